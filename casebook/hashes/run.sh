#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need perl
port=$(free_port)
PERL_HASH_SEED=0 perl "$CASEBOOK/hashes/names.pl" 2000 >"$STATE/form"
seed=
if [ "$VARIANT" = slow ]; then seed="env PERL_HASH_SEED=0"; fi
watch --server "$seed perl $CASEBOOK/hashes/server.pl {server} $port" -- \
    "$PYTHON" "$CASEBOOK/hashes/client.py" {server} "$port" "$STATE/form" "${REQUESTS:-200}"
