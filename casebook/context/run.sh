#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need nginx openssl
make_certificate
port=$(free_port)
# A context with the whole bundle takes 15 to 20 ms; the twin's requests take a thousandth of that.
program=client.py requests=60
if [ "$VARIANT" = fixed ]; then program=fixed.py requests=4000; fi
watch --server "$CASEBOOK/serve-nginx.sh $CASEBOOK/nginx.conf $STATE {server} $port tls" -- \
    "$PYTHON" "$CASEBOOK/context/$program" {server} "$port" "$STATE/certificate.pem" "${REQUESTS:-$requests}"
