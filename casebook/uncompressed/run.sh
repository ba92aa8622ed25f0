#!/bin/bash
# Usage: run.sh [slow|unasked|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow unasked fixed -- "$@"
need nginx curl
"$PYTHON" "$CASEBOOK/compression/make_catalogue.py" "$STATE"
port=$(free_port)
path=compressed asks=(--compressed)
case $VARIANT in
slow) path=whole ;;
unasked) asks=() ;;
esac
watch --link mtu=1500,rate=20mbit,delay=5ms \
    --server "$CASEBOOK/serve-nginx.sh $CASEBOOK/uncompressed/nginx.conf $STATE {server} $port" -- \
    curl --silent --show-error --fail --output /dev/null "${asks[@]}" "http://{server}:$port/$path/catalogue.json?[1-${REQUESTS:-20}]"
