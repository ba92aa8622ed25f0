#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need openssl
make_certificate
port=$(free_port)
how=lines requests=150
if [ "$VARIANT" = fixed ]; then how=buffer requests=600; fi
watch --server "$PYTHON $CASEBOOK/records/server.py {server} $port $STATE/certificate.pem $STATE/key.pem $how" -- \
    "$PYTHON" "$CASEBOOK/ask.py" {server} "$port" /report "${REQUESTS:-$requests}" "$STATE/certificate.pem"
