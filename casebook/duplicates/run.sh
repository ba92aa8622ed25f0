#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
port=$(free_port)
program=server.py
if [ "$VARIANT" = fixed ]; then program=fixed.py; fi
watch --server "$PYTHON $CASEBOOK/duplicates/$program {server} $port 60" -- \
    "$PYTHON" "$CASEBOOK/duplicates/client.py" {server} "$port" "${REQUESTS:-150}"
