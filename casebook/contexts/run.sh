#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need nginx openssl
make_certificate
port=$(free_port)
program=curl.py
if [ "$VARIANT" = fixed ]; then program=shared.py; fi
# A single certificate is trusted: next to nothing has to be parsed.
watch --server "$CASEBOOK/serve-nginx.sh $CASEBOOK/nginx.conf $STATE {server} $port tls" -- \
    "$PYTHON" "$CASEBOOK/context-per-request/$program" {server} "$port" "$STATE/certificate.pem" "${REQUESTS:-400}"
