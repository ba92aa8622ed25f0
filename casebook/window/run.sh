#!/bin/bash
# Usage: run.sh [slow|plain|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow plain fixed -- "$@"
need nginx nghttp openssl
make_certificate
mkdir "$STATE/files"
head -c 3M /dev/zero >"$STATE/files/long"
port=$(free_port)
tls=tls scheme=https
# What nghttp says of its windows unless it is told to: nothing, and then they have 65,535 bytes.
windows=()
if [ "$VARIANT" = plain ]; then tls= scheme=http; fi
if [ "$VARIANT" = fixed ]; then windows=(--window-bits=26 --connection-window-bits=26); fi
sed 's/ @TLS@;/ @TLS@ http2;/' "$CASEBOOK/nginx.conf" >"$STATE/template.conf"
watch --link mtu=1500,delay=10ms --server "$CASEBOOK/serve-nginx.sh $STATE/template.conf $STATE {server} $port $tls" -- \
    bash "$CASEBOOK/window/client.sh" "$scheme://{server}:$port/long" "${windows[@]}"
