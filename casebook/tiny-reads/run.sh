#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
port=$(free_port)
program=client.py requests=400
if [ "$VARIANT" = fixed ]; then program=fixed.py requests=10000; fi
watch --server "$PYTHON $CASEBOOK/tiny-reads/server.py {server} $port 60" -- \
    "$PYTHON" "$CASEBOOK/tiny-reads/$program" {server} "$port" "${REQUESTS:-$requests}"
