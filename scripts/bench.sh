#!/usr/bin/env bash
# Measures this project beside its peers in one run, and writes the table to
# reports/bench.md: our splitters against LangChain's with tiktoken, on
# finance.md of the Chroma corpora, one core each. Peers are installed into
# bin/bench-env. Machines are noisy: rerun before you quote a ratio. The embedder's
# speed is scripts/bench_embed.py.
set -euo pipefail
cd "$(dirname "$0")/.."
file=../shared/data/chroma/corpora/finance.md
[ -f "$file" ] || { echo "bench.sh: $file is missing (see scripts/paper.sh)" >&2; exit 2; }
env=bin/bench-env
if [ ! -x "$env/bin/python" ]; then
  python3 -m venv "$env"
  "$env/bin/pip" install -q langchain-text-splitters tiktoken
fi
ranks=$(go list -m -f '{{.Dir}}' github.com/pkoukk/tiktoken-go-loader)/assets/cl100k_base.tiktoken
GOMAXPROCS=1 go test ./evalkit/chunk -run '^$' -bench Finance -benchtime 1s -count 5 > bin/bench-go.txt
GOMAXPROCS=1 taskset -c 0 "$env/bin/python" scripts/bench_chunk.py "$ranks" "$file" > bin/bench-peers.txt
{
  printf '# Speed beside peers\n\nWritten by `scripts/bench.sh`: finance.md, one core each, in one run.\n\n```\n'
  grep '^Benchmark' bin/bench-go.txt
  echo
  cat bin/bench-peers.txt
  printf '```\n'
} > reports/bench.md
cat reports/bench.md
