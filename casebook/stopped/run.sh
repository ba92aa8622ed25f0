#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
port=$(free_port)
limit=
if [ "$VARIANT" = slow ]; then
    need cpulimit
    limit="cpulimit --limit=30 --foreground --"
fi
watch --server "$limit $PYTHON $CASEBOOK/quota/server.py {server} $port 60" -- \
    "$PYTHON" "$CASEBOOK/quota/client.py" {server} "$port" "${REQUESTS:-100}"
