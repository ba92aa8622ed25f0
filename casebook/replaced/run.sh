#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need gunicorn
port=$(free_port)
limit="--max-requests 1"
requests=40
if [ "$VARIANT" = fixed ]; then
    limit=
    requests=2000
fi
watch --server "gunicorn --chdir $CASEBOOK/replaced --bind {server}:$port --log-level error $limit app:application" -- \
    "$PYTHON" "$CASEBOOK/replaced/client.py" {server} "$port" "${REQUESTS:-$requests}"
