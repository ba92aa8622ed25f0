#!/bin/bash
# Usage: run.sh [group|version|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant group version fixed -- "$@"
need nginx curl openssl
mkdir "$STATE/files"
echo page >"$STATE/files/page"
make_certificate
port=$(free_port)
if [ "$WHYSLOW" = none ]; then
    echo "skipped: this needs a link with a delay, which whyslow makes" >&2
    exit 77
fi
watch --link mtu=1500,delay=25ms --server "$CASEBOOK/serve-nginx.sh $CASEBOOK/round-trips/$VARIANT.conf $STATE {server} $port tls" -- \
    "$CASEBOOK/chain/client.sh" "{server}:$port" "${REQUESTS:-20}" "$STATE/certificate.pem"
