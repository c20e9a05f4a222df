#!/usr/bin/env bash
# Prints the numbers of reports/chroma-minilm.md: what every setting finds at its
# top_k, and at equal tokens against ±0/0 and against the first row. Needs
# ../shared/data/chroma (see scripts/paper.sh); half an hour the first time on two
# cores, most of it late chunking, which `late=no scripts/chroma.sh` leaves out.
set -euo pipefail
cd "$(dirname "$0")/.."
results=${RESULTS:-bin/chroma-results}
evalkit=bin/evalkit
make --no-print-directory build
$evalkit model pull minilm
[ -d bin/chroma ] || $evalkit dataset import chroma ../shared/data/chroma bin/chroma

# run CONFIG: prints the table and leaves the ids in ids.
run() {
	$evalkit run "$1" --results "$results" --ids bin/chroma-ids
	mapfile -t ids <bin/chroma-ids
}
run scripts/chroma.yaml
$evalkit compare --results "$results" "${ids[@]}" --budget 500,1000,2000,4000 --window
$evalkit compare --results "$results" "${ids[@]}" --budget 1000,2000
[ "${late:-yes}" = yes ] || exit 0
run scripts/chroma-late.yaml
for first in 0 3; do # dense, hybrid
	$evalkit compare --results "$results" "${ids[@]:first:3}" --metric recall+ --metric IoU+
done
