#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need nginx curl openssl
make_certificate
{
    printf 'openssl_conf = start\n[start]\noid_section = names\n[names]\n'
    if [ "$VARIANT" = slow ]; then
        for ((number = 0; number < 30000; number++)); do
            echo "casebook$number = 1.3.6.1.4.1.55555.$((number / 100)).$((number % 100))"
        done
    fi
} >"$STATE/openssl.cnf"
port=$(free_port)
export OPENSSL_CONF=$STATE/openssl.cnf
watch --server "$CASEBOOK/serve-nginx.sh $CASEBOOK/nginx.conf $STATE {server} $port" -- \
    "$CASEBOOK/object-names/client.sh" "http://{server}:$port/hello" "${REQUESTS:-20}"
