#!/usr/bin/env bash
# Runs configurations one after the other and writes the dashboard over all of
# them. One that fails does not stop the rest; the exit status is 1 then.
#
#   scripts/sweep.sh OUT CONFIG…
set -uo pipefail
out=${1:?usage: sweep.sh OUT CONFIG…}
shift
[ $# -gt 0 ] || { echo "usage: sweep.sh OUT CONFIG…" >&2; exit 2; }
evalkit=${EVALKIT:-bin/evalkit}
results=${RESULTS:-results}
status=0
for config in "$@"; do
  "$evalkit" run "$config" --results "$results" --quiet || { echo "sweep.sh: $config failed" >&2; status=1; }
done
"$evalkit" site "$out" --results "$results" || status=1
exit $status
