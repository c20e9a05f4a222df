#!/usr/bin/env bash
# Runs a configuration, holds each Experiment to its baseline, writes the pages.
# For a CI job or cron:
#
#   scripts/regress.sh CONFIG BASELINES OUT [POLICY]
#
# BASELINES is a folder of files NAME.jsonl, made by "evalkit baseline save"; NAME
# is the id of the Experiment without the digits at its end. OUT gets verdicts
# (text, Markdown, JUnit, JSON), Compare pages and trends. Exit status: 0 all pass,
# 1 one fails or queries failed, 3 none fails and one is inconclusive, 2 bad input.
set -euo pipefail
usage='usage: regress.sh CONFIG BASELINES OUT [POLICY]'
config=${1:?$usage}
baselines=${2:?$usage}
out=${3:?$usage}
policy=()
[ $# -lt 4 ] || policy=(--policy "$4")
evalkit=${EVALKIT:-bin/evalkit}
results=${RESULTS:-results}

mkdir -p "$out"
rm -f "$out/ids.txt"
worst=0
"$evalkit" run "$config" --results "$results" --ids "$out/ids.txt" --quiet >"$out/table.txt" || worst=$?
cat "$out/table.txt"
# Without ids nothing was stored; with them some queries failed, which the gate shows.
[ -e "$out/ids.txt" ] || exit $worst
for baseline in "$baselines"/*.jsonl; do
  [ -e "$baseline" ] || { echo "regress.sh: no baseline in $baselines; make one with $evalkit baseline save" >&2; exit 2; }
  name=$(basename "$baseline" .jsonl)
  id=$(grep -E "^$name-[0-9a-f]{8}(\.[0-9]+)?$" "$out/ids.txt" || true)
  [ -n "$id" ] || { echo "regress.sh: no Experiment of $config is named $name" >&2; exit 2; }
  status=0
  "$evalkit" gate --results "$results" --baseline "$baseline" --candidate "$id" ${policy[@]+"${policy[@]}"} \
    --markdown "$out/$name.md" --junit "$out/$name.xml" --json "$out/$name.json" --html "$out/$name.html" | tee "$out/$name.txt" || status=$?
  case $status in
    0) ;;
    1) worst=1 ;;
    3) [ $worst = 1 ] || worst=3 ;;
    *) exit $status ;;
  esac
  "$evalkit" trend "$out/$name.trend.html" --results "$results" --name "$name-"
done
exit $worst
