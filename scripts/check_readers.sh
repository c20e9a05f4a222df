#!/usr/bin/env bash
# Reads the Parquet tables of a small run with two independent readers, DuckDB
# and pyarrow, compares every row with what evalkit reads itself, and runs it once
# more on vectors that pyarrow wrote; reads a gate's JUnit file with junitparser.
set -euo pipefail
cd "$(dirname "$0")/.."
py=bin/readers
if ! [ -x "$py/bin/python" ] || ! "$py/bin/python" -c 'import duckdb, junitparser, pyarrow' 2>/dev/null; then
	python3 -m venv "$py"
	"$py/bin/pip" install --quiet --disable-pip-version-check -r scripts/readers.txt
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bin/evalkit run scripts/readers.yaml --results "$work/results" --no-cache --quiet >"$work/table"
bin/evalkit vectors scripts/readers.yaml "$work/ours.parquet" --no-cache >"$work/text"
"$py/bin/python" scripts/check_readers.py bin/evalkit "$work/results" "$work/ours.parquet" "$work/theirs.parquet"
bin/evalkit run scripts/readers.yaml --results "$work/again" --no-cache --quiet --embedder "precomputed(file=$work/theirs.parquet)" >"$work/table"
for results in results again; do
	bin/evalkit export readers --results "$work/$results" --jsonl tree >"$work/$results.tree"
done
cmp "$work/results.tree" "$work/again.tree"

# A candidate that loses, passes and is inconclusive.
cat >"$work/candidate.yaml" <<YAML
name: candidate
dataset: $PWD/datasets/handbook
strategies: [fixed_size(size=100), fixed_size(size=200), markdown(size=200)]
retriever: bm25
top_k: 4
neighbor_prev: 1
neighbor_next: 1
YAML
bin/evalkit run "$work/candidate.yaml" --results "$work/gate" --no-cache --quiet >"$work/table"
status=0
bin/evalkit gate --results "$work/gate" --candidate candidate --baseline reports/baselines/handbook-retriever-bm25-window-1-1.jsonl \
	--junit "$work/gate.xml" --json "$work/gate.json" --markdown "$work/gate.md" >"$work/text" 2>&1 || status=$?
[ $status = 1 ] || { cat "$work/text"; exit 1; }
"$py/bin/python" scripts/check_junit.py "$work/gate.xml" "$work/gate.json"
