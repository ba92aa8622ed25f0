#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need node
port=$(free_port)
how=append
if [ "$VARIANT" = fixed ]; then how=collect; fi
watch --server "node $CASEBOOK/appended/server.mjs {server} $port $how" -- \
    "$PYTHON" "$CASEBOOK/appended/client.py" {server} "$port" 16000000 "${REQUESTS:-4}"
