#!/bin/bash
# Usage: run.sh [https|http|fixed-https|fixed-http] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant https http fixed-https fixed-http -- "$@"
need nginx openssl curl
make_certificate
port=$(free_port)
scheme=${VARIANT#fixed-}
tls=plain
if [ "$scheme" = https ]; then tls=tls; fi
# A curl takes 10 to 20 ms; 2,000 requests over one connection take about as long as 100 of them.
if [ "$scheme" = "$VARIANT" ]; then
    client=(bash "$CASEBOOK/churn/client.sh") requests=100
else
    client=("$PYTHON" "$CASEBOOK/churn/fixed.py") requests=4000
fi
watch --server "$CASEBOOK/serve-nginx.sh $CASEBOOK/nginx.conf $STATE {server} $port $tls" -- \
    "${client[@]}" "$scheme" {server} "$port" "$STATE/certificate.pem" "${REQUESTS:-$requests}"
