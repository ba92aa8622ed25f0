#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
port=$(free_port)
workers=one
if [ "$VARIANT" = fixed ]; then workers=many; fi
watch --server "$PYTHON $CASEBOOK/line/server.py {server} $port $workers" -- \
    "$PYTHON" "$CASEBOOK/line/client.py" {server} "$port" "${ROUNDS:-10}" 6
