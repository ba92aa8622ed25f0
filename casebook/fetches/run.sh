#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
if ! "$PYTHON" -c 'import ssl; exit(ssl.OPENSSL_VERSION_INFO < (3,))'; then echo "skipped: $PYTHON has no OpenSSL 3" >&2; exit 77; fi
port=$(free_port)
how=each
if [ "$VARIANT" = fixed ]; then how=copy; fi
watch --server "$PYTHON $CASEBOOK/fetches/server.py {server} $port $how" -- \
    "$PYTHON" "$CASEBOOK/ask.py" {server} "$port" /lines "${REQUESTS:-400}"
