#!/bin/bash
# Usage: run.sh [slow|same] [options of whyslow compare]
. "$(dirname "$0")/../session.sh"
choose_variant slow same -- "$@"
need haproxy
port=$(free_port)
before=roundrobin
if [ "$VARIANT" = same ]; then before=leastconn; fi
serve="bash $CASEBOOK/balance/serve.sh $PYTHON $STATE {server} $port"
# 80 % of what three workers can do: 300 a second, of 2 ms, and one in a hundred of 200.
compare --a "server=$serve $before 120" --b "server=$serve leastconn 120" --metric 'stdout:p95 ([0-9.]+) ms' -- \
    "$PYTHON" "$CASEBOOK/balance/client.py" {server} "$port" "${REQUESTS:-900}" "${RATE:-300}" 2 200
