#!/usr/bin/env bash
# Reads the Parquet tables of a small run with two independent readers, DuckDB
# and pyarrow, and compares every row with what evalkit reads itself.
set -euo pipefail
cd "$(dirname "$0")/.."
py=bin/readers
if ! [ -x "$py/bin/python" ] || ! "$py/bin/python" -c 'import duckdb, pyarrow' 2>/dev/null; then
	python3 -m venv "$py"
	"$py/bin/pip" install --quiet --disable-pip-version-check -r scripts/readers.txt
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bin/evalkit run scripts/readers.yaml --results "$work/results" --no-cache --quiet >"$work/table"
"$py/bin/python" scripts/check_readers.py bin/evalkit "$work/results"
