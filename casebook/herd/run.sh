#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need uwsgi ab
port=$(free_port)
turns=
if [ "$VARIANT" = fixed ]; then turns=--thunder-lock; fi
server="uwsgi --plugin python3 --http-socket {server}:$port --wsgi-file $CASEBOOK/services/wsgi.py --master --processes 32"
watch --server "$server $turns --disable-logging --die-on-term" -- \
    ab -q -c 1 -n "${REQUESTS:-2000}" "http://{server}:$port/"
