#!/bin/bash
# Usage: run.sh [slow|plain|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow plain fixed -- "$@"
need node nginx openssl
make_certificate
mkdir -p "$STATE/files/pages"
for number in 0 1 2 3 4 5 6 7 8 9; do
    head -c 200000 /dev/zero | tr "\0" "$number" >"$STATE/files/pages/$number.html"
done
port=$(free_port)
rest=drop pages=150
if [ "$VARIANT" = fixed ]; then rest=read pages=800; fi
certificate=$STATE/certificate.pem how=tls way=()
if [ "$VARIANT" = plain ]; then certificate=none how=plain way=(--link mtu=1500,delay=2ms); fi
watch "${way[@]}" --server "$CASEBOOK/serve-nginx.sh $CASEBOOK/nginx.conf $STATE {server} $port $how" -- \
    node "$CASEBOOK/unread/client.mjs" {server} "$port" "$certificate" "$rest" "${REQUESTS:-$pages}"
