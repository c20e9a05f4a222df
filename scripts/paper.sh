#!/usr/bin/env bash
# Prints the published precision_omega (percent, mean ± standard deviation over
# 472 questions) beside ours: at the published placement of chunks, which has to
# agree, and at their true places. Then the published recall, precision and IoU
# of retrieval with all-MiniLM-L6-v2 (percent, k = 5) beside ours, with the 95 %
# bootstrap interval of recall; this takes some ten minutes the first time and
# needs the model (evalkit model pull minilm).
set -euo pipefail
cd "$(dirname "$0")/.."
data=../shared/data/chroma
if ! [ -d "$data" ]; then
	echo "paper: $data is missing: put corpora/ and questions_df.csv of brandonstarxel/chunking_evaluation d451fc4 there" >&2
	exit 2
fi
show() { sed -nE -e 's/.*\.go:[0-9]+: (.*)/\1/p' -e '/^(---|FAIL|ok)/p'; }
go test -count=1 -run '^TestPublishedPrecisionOmega$' -v ./evalkit/chunk | show
EVALKIT_PAPER=1 go test -count=1 -timeout 2h -run '^TestPaperTable$' -v ./evalkit/embed/onnx | show
