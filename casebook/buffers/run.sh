#!/bin/bash
# Usage: run.sh [slow|reader|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow reader fixed -- "$@"
need nginx
mkdir "$STATE/files"
head -c 1M /dev/zero >"$STATE/files/megabyte"
port=$(free_port)
buffer= ours= requests=12
if [ "$VARIANT" = slow ]; then buffer=sndbuf=8k; fi
if [ "$VARIANT" = reader ]; then ours=4096 requests=30; fi
if [ "$VARIANT" = fixed ]; then requests=800; fi
sed "s|@BUFFER@|$buffer|" "$CASEBOOK/buffers/nginx.conf" >"$STATE/template.conf"
watch --server "$CASEBOOK/serve-nginx.sh $STATE/template.conf $STATE {server} $port" -- \
    "$PYTHON" "$CASEBOOK/buffers/client.py" {server} "$port" "${REQUESTS:-$requests}" $ours
