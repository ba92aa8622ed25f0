#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need openssl
make_certificate
port=$(free_port)
books=shared connections=each
if [ "$VARIANT" = fixed ]; then books=own connections=kept; fi
watch --server "$PYTHON $CASEBOOK/lock/server.py {server} $port $STATE/certificate.pem $STATE/key.pem $books" -- \
    "$PYTHON" "$CASEBOOK/lock/client.py" {server} "$port" "$STATE/certificate.pem" "${REQUESTS:-480}" "$connections"
