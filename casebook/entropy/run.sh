#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
port=$(free_port)
source=system
if [ "$VARIANT" = fixed ]; then source=own; fi
watch --server "$PYTHON $CASEBOOK/entropy/server.py {server} $port $source" -- \
    "$PYTHON" "$CASEBOOK/entropy/client.py" {server} "$port" "${REQUESTS:-120}"
