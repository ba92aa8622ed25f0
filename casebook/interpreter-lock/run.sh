#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
port=$(free_port)
workers=threads
if [ "$VARIANT" = fixed ]; then workers=processes; fi
watch --server "$PYTHON $CASEBOOK/interpreter-lock/server.py {server} $port $workers" -- \
    "$PYTHON" "$CASEBOOK/interpreter-lock/client.py" {server} "$port" 8 "${REQUESTS:-12}"
