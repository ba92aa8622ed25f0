#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need nginx openssl
# RSA with 4,096 bits: what a full handshake costs the server is plain to see.
make_certificate rsa:4096
port=$(free_port)
program=client.py
if [ "$VARIANT" = fixed ]; then program=fixed.py; fi
watch --server "$CASEBOOK/serve-nginx.sh $CASEBOOK/nginx.conf $STATE {server} $port tls" -- \
    "$PYTHON" "$CASEBOOK/no-resumption/$program" {server} "$port" "$STATE/certificate.pem" "${REQUESTS:-200}"
