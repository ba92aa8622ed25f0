#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need nginx
mkdir "$STATE/files"
head -c 2000 /dev/zero >"$STATE/files/page"
port=$(free_port)
filters=4 rules=1500
if [ "$VARIANT" = fixed ]; then filters=1 rules=5; fi
filtered="$PYTHON $CASEBOOK/sandbox/filtered.py $filters $rules"
watch --server "$filtered $CASEBOOK/serve-nginx.sh $CASEBOOK/idle/nginx.conf $STATE {server} $port" -- \
    "$PYTHON" "$CASEBOOK/ask.py" {server} "$port" /page "${REQUESTS:-3000}"
