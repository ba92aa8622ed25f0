#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
port=$(free_port)
how=silent requests=20
if [ "$VARIANT" = fixed ]; then how=length requests=2000; fi
watch --server "$PYTHON $CASEBOOK/framing/server.py {server} $port $how" -- \
    "$PYTHON" "$CASEBOOK/framing/client.py" {server} "$port" "${REQUESTS:-$requests}"
