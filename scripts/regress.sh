#!/usr/bin/env bash
# Runs a configuration, holds each Experiment to its baseline, writes the pages.
# For a CI job or cron:
#
#   scripts/regress.sh CONFIG BASELINES OUT [POLICY]
#
# BASELINES is a folder of files NAME.jsonl, made by "evalkit baseline save"; NAME
# is the start of the Experiment's id. OUT gets verdicts (text, Markdown, JUnit,
# JSON), Compare pages and the trend. Exit status: 0 all pass, 1 one fails, 3 none
# fails and one is inconclusive, 2 bad input.
set -euo pipefail
config=${1:?usage: regress.sh CONFIG BASELINES OUT [POLICY]}
baselines=${2:?usage: regress.sh CONFIG BASELINES OUT [POLICY]}
out=${3:?usage: regress.sh CONFIG BASELINES OUT [POLICY]}
policy=${4:+--policy $4}
evalkit=${EVALKIT:-bin/evalkit}
results=${RESULTS:-results}

mkdir -p "$out"
"$evalkit" run "$config" --results "$results" --quiet | tee "$out/table.txt"
worst=0
for baseline in "$baselines"/*.jsonl; do
  [ -e "$baseline" ] || { echo "regress.sh: no baseline in $baselines; make one with $evalkit baseline save" >&2; exit 2; }
  name=$(basename "$baseline" .jsonl)
  # The newest Experiment whose id begins with the baseline's name.
  id=$(ls -t "$results" | grep "^$name-" | head -1 || true)
  [ -n "$id" ] || { echo "regress.sh: no Experiment begins with $name in $results" >&2; exit 2; }
  status=0
  # shellcheck disable=SC2086
  "$evalkit" gate --results "$results" --baseline "$baseline" --candidate "$id" $policy \
    --markdown "$out/$name.md" --junit "$out/$name.xml" --json "$out/$name.json" --html "$out/$name.html" || status=$?
  case $status in
    0) ;;
    1) worst=1 ;;
    3) [ $worst = 1 ] || worst=3 ;;
    *) exit $status ;;
  esac
done
"$evalkit" trend "$out/trend.html" --results "$results"
exit $worst
