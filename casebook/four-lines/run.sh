#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
port=$(free_port)
program=server.py
if [ "$VARIANT" = fixed ]; then program=fixed.py; fi
# The link carries 59 documents a second: 400 are about 7 s. The server ends by itself, should nobody stop it.
watch --link mtu=1500,rate=10mbit --server "$PYTHON $CASEBOOK/four-lines/$program {server} $port 120" -- \
    "$PYTHON" "$CASEBOOK/four-lines/client.py" {server} "$port" "${REQUESTS:-400}" 4
