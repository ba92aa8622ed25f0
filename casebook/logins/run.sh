#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
# QUERIES  how many questions are asked (default 150)
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
. "$CASEBOOK/postgresql.sh"
need_driver
port=$(free_port)
prepare_items "$port"
queries=150
if [ "$VARIANT" = fixed ]; then queries=3000; fi
watch --server "$DATABASE -h {server} -p $port" -- \
    /usr/bin/python3 "$CASEBOOK/logins/client.py" {server} "$port" "${QUERIES:-$queries}" "$VARIANT"
