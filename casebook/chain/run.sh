#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need nginx curl openssl
mkdir "$STATE/files"
echo page >"$STATE/files/page"
# A certificate for a whole platform: each customer's name is in it.
names=DNS:casebook.test
if [ "$VARIANT" = slow ]; then names+=$(seq -f ',DNS:customer-%g.some-department.casebook.test' 400 | tr -d '\n'); fi
make_certificate_for() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=casebook.test \
        -addext "subjectAltName=$1" -keyout "$STATE/key.pem" -out "$STATE/chain.pem" 2>"$STATE/openssl.log" ||
        { cat "$STATE/openssl.log" >&2; exit 2; }
}
make_certificate_for "$names"
port=$(free_port)
if [ "$WHYSLOW" = none ]; then
    echo "skipped: this needs a link with a delay, which whyslow makes" >&2
    exit 77
fi
watch --link mtu=1500,delay=25ms --server "$CASEBOOK/serve-nginx.sh $CASEBOOK/chain/nginx.conf $STATE {server} $port tls" -- \
    "$CASEBOOK/chain/client.sh" "{server}:$port" "${REQUESTS:-20}" "$STATE/chain.pem"
