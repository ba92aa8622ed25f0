#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need nginx curl openssl
make_certificate
mkdir "$STATE/files"
head -c 40M /dev/zero >"$STATE/files/image"
port=$(free_port)
link=mtu=1500,rate=80mbit,burst=20m
# The whole fits into the bucket.
if [ "$VARIANT" = fixed ]; then link=mtu=1500,rate=80mbit,burst=100m; fi
if [ "$WHYSLOW" = none ]; then
    echo "skipped: this needs a link with a rate, which whyslow makes" >&2
    exit 77
fi
watch --link "$link" --server "$CASEBOOK/serve-nginx.sh $CASEBOOK/nginx.conf $STATE {server} $port" -- \
    curl --silent --fail --output /dev/null "http://{server}:$port/image"
