#!/usr/bin/env bash
# Runs a command with the Jupyter of bin/jupyter and the GoNB kernel:
#
#   scripts/notebooks/with.sh jupyter lab
set -euo pipefail
home=$(cd "$(dirname "$0")/../.." && pwd)/bin/jupyter
export PATH="$home/go:$home/env/bin:$PATH"
export JUPYTER_DATA_DIR="$home/data" JUPYTER_CONFIG_DIR="$home/config" IPYTHONDIR="$home/ipython"
export GOFLAGS="-ldflags=-s ${GOFLAGS:-}" # cells link without debug data, which takes half the time
unset GOWORK JUPYTER_PATH JUPYTER_RUNTIME_DIR
exec "$@"
