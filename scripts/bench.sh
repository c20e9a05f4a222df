#!/usr/bin/env bash
# Measures this project beside its peers in one run, and writes the table to
# reports/bench.md. Peers are installed into bin/bench-env: langchain-text-splitters
# and tiktoken. Machines are noisy, so the table holds ratios; rerun before you
# quote one. The embedder's speed is scripts/bench_embed.py.
set -euo pipefail
cd "$(dirname "$0")/.."
env=bin/bench-env
if [ ! -x "$env/bin/python" ]; then
  python3 -m venv "$env"
  "$env/bin/pip" install -q langchain-text-splitters tiktoken
fi
GOMAXPROCS=1 go test ./evalkit/chunk ./evalkit/token -run '^$' -bench 'Finance|Count' -benchtime 1s -count 3 | tee bin/bench-go.txt
"$env/bin/python" scripts/bench_chunk.py | tee bin/bench-peers.txt
{
  echo "# Speed beside peers"
  echo
  echo "Written by \`scripts/bench.sh\`; one core each, in one run."
  echo
  echo '```'
  grep '^Benchmark' bin/bench-go.txt
  echo
  cat bin/bench-peers.txt
  echo '```'
} > reports/bench.md
