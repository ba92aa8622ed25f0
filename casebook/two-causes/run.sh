#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
port=$(free_port)
# 70 orders of eleven requests each take some 4 s when slow; cured, as many are over before much is seen.
prefix='' orders=70
if [ "$VARIANT" = fixed ]; then prefix=fixed- orders=600; fi
watch --link mtu=1500 --server "$PYTHON $CASEBOOK/two-causes/${prefix}server.py {server} $port 60" -- \
    "$PYTHON" "$CASEBOOK/two-causes/${prefix}client.py" {server} "$port" "${REQUESTS:-$orders}"
