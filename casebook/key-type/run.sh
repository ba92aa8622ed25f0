#!/bin/bash
# Usage: run.sh [slow|group|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow group fixed -- "$@"
need nginx openssl
if [ "$VARIANT" = slow ]; then make_certificate rsa:4096; else make_certificate; fi
template=$CASEBOOK/nginx.conf
# The key is agreed on in a finite field of 4,096 bits, as somebody may have thought to be on the safe side.
if [ "$VARIANT" = group ]; then
    template=$STATE/template.conf
    sed 's/ssl_protocols .*/ssl_protocols TLSv1.3; ssl_ecdh_curve ffdhe4096;/' "$CASEBOOK/nginx.conf" >"$template"
fi
port=$(free_port)
watch --server "$CASEBOOK/serve-nginx.sh $template $STATE {server} $port tls" -- \
    "$PYTHON" "$CASEBOOK/key-type/client.py" {server} "$port" "$STATE/certificate.pem" "${REQUESTS:-60}"
