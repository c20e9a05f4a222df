#!/usr/bin/env bash
# Prints the published precision_omega (percent, mean ± standard deviation over
# 472 questions) beside ours: at the published placement of chunks, which has to
# agree, and at their true places.
set -euo pipefail
cd "$(dirname "$0")/.."
data=../shared/data/chroma
if ! [ -d "$data" ]; then
	echo "paper: $data is missing: put corpora/ and questions_df.csv of brandonstarxel/chunking_evaluation d451fc4 there" >&2
	exit 2
fi
go test -count=1 -run '^TestPublishedPrecisionOmega$' -v ./evalkit/chunk | sed -nE \
	-e 's/.*\.go:[0-9]+: (.*)/\1/p' -e '/^(---|FAIL|ok)/p'
