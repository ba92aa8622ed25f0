#!/bin/bash
# Usage: run.sh [slow|processes|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow processes fixed -- "$@"
need curl nginx openssl
make_certificate
port=$(free_port)
connections=each requests=100
if [ "$VARIANT" = fixed ]; then connections=one requests=300; fi
if [ "$VARIANT" = processes ]; then
    watch --link mtu=1500,delay=2ms --server "$CASEBOOK/serve-nginx.sh $CASEBOOK/nginx.conf $STATE {server} $port plain" -- \
        "$CASEBOOK/reconnect/check.sh" "http://{server}:$port/hello" "${REQUESTS:-60}"
    exit
fi
watch --link mtu=1500,delay=2ms --server "$CASEBOOK/serve-nginx.sh $CASEBOOK/nginx.conf $STATE {server} $port plain" -- \
    "$PYTHON" "$CASEBOOK/reconnect/client.py" {server} "$port" "${REQUESTS:-$requests}" "$connections"
