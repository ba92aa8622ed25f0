#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need nginx
mkdir "$STATE/files"
head -c 16M /dev/zero >"$STATE/files/file"
port=$(free_port)
downloads=3 seconds=0.002
if [ "$VARIANT" = fixed ]; then downloads=60 seconds=0; fi
watch --server "$CASEBOOK/serve-nginx.sh $CASEBOOK/slow-reader/nginx.conf $STATE {server} $port" -- \
    "$PYTHON" "$CASEBOOK/slow-reader/client.py" {server} "$port" "${REQUESTS:-$downloads}" "$seconds"
