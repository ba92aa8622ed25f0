#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
port=$(free_port)
how=process requests=40
if [ "$VARIANT" = fixed ]; then how=worker requests=3000; fi
watch --server "$PYTHON $CASEBOOK/cgi/server.py {server} $port $how 60" -- \
    "$PYTHON" "$CASEBOOK/cgi/client.py" {server} "$port" "${REQUESTS:-$requests}"
