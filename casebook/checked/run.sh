#!/bin/bash
# Usage: run.sh [checked|transactions|fixed] [options of whyslow run]
# QUERIES  how many questions are asked (default 3000)
. "$(dirname "$0")/../session.sh"
choose_variant checked transactions fixed -- "$@"
. "$CASEBOOK/postgresql.sh"
need_driver
port=$(free_port)
prepare_items "$port"
watch --server "$DATABASE -h {server} -p $port" -- \
    /usr/bin/python3 "$CASEBOOK/checked/client.py" {server} "$port" "${QUERIES:-3000}" "$VARIANT"
