#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need nginx strace
mkdir "$STATE/files"
head -c 2000 /dev/zero >"$STATE/files/page"
port=$(free_port)
tracer= requests=300
if [ "$VARIANT" = slow ]; then tracer="strace -f -o $STATE/calls"; fi
if [ "$VARIANT" = fixed ]; then requests=4000; fi
watch --server "$tracer $CASEBOOK/serve-nginx.sh $CASEBOOK/idle/nginx.conf $STATE {server} $port" -- \
    "$PYTHON" "$CASEBOOK/strace/client.py" {server} "$port" "${REQUESTS:-$requests}"
