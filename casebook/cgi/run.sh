#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
port=$(free_port)
work=script requests=20
if [ "$VARIANT" = fixed ]; then work=module requests=500; fi
watch --server "$PYTHON -B $CASEBOOK/cgi/server.py {server} $port $work" -- \
    "$PYTHON" "$CASEBOOK/cgi/client.py" {server} "$port" "${REQUESTS:-$requests}"
