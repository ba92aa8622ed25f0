#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need curl
if [ ! -e /proc/net/if_inet6 ]; then echo "skipped: no IPv6" >&2; exit 77; fi
port=$(free_port)
first=silent requests=8
if [ "$VARIANT" = fixed ]; then first=open requests=40; fi
watch --server "$PYTHON $CASEBOOK/dead-ipv6/server.py $port $first 60" -- \
    bash "$CASEBOOK/dead-ipv6/client.sh" "$port" "${REQUESTS:-$requests}"
