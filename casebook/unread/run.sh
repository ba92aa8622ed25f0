#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need node nginx openssl
make_certificate
mkdir -p "$STATE/files/pages"
for number in 0 1 2 3 4 5 6 7 8 9; do
    head -c 200000 /dev/zero | tr "\0" "$number" >"$STATE/files/pages/$number.html"
done
port=$(free_port)
rest=drop pages=150
if [ "$VARIANT" = fixed ]; then rest=read pages=800; fi
watch --server "$CASEBOOK/serve-nginx.sh $CASEBOOK/nginx.conf $STATE {server} $port tls" -- \
    node "$CASEBOOK/unread/client.mjs" {server} "$port" "$STATE/certificate.pem" "$rest" "${REQUESTS:-$pages}"
