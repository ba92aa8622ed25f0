#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need nginx openssl
make_certificate
mkdir "$STATE/files"
head -c 8M /dev/zero >"$STATE/files/image"
port=$(free_port)
# A queue of two seconds, as modems have, and one that holds two round trips.
buffer=2s
if [ "$VARIANT" = fixed ]; then buffer=40ms; fi
if [ "$WHYSLOW" = none ]; then
    echo "skipped: this needs a link with a rate, which whyslow makes" >&2
    exit 77
fi
# Reno goes on until something gets lost; BBR, where it is the default, fills no queue.
watch --link "mtu=1500,rate=16mbit,delay=10ms,buffer=$buffer" --route 'server: congctl reno' \
    --server "$CASEBOOK/serve-nginx.sh $CASEBOOK/nginx.conf $STATE {server} $port" -- \
    "$PYTHON" "$CASEBOOK/bloat/client.py" {server} "$port" "${REQUESTS:-6}"
