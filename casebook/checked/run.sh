#!/bin/bash
# Usage: run.sh [checked|transactions|fixed] [options of whyslow run]
# QUERIES  how many questions are asked (default 3000)
. "$(dirname "$0")/../session.sh"
choose_variant checked transactions fixed -- "$@"
# The driver is a package of Debian's, for Debian's interpreter.
if ! /usr/bin/python3 -c 'import psycopg2' 2>/dev/null; then echo "skipped: python3-psycopg2 is not installed" >&2; exit 77; fi
. "$CASEBOOK/postgresql.sh"
port=$(free_port)
prepare_database "$port" <<<"CREATE TABLE items (id int PRIMARY KEY, name text);
INSERT INTO items SELECT n, 'item ' || n FROM generate_series(0, 999) n;"
echo "host all all all trust" >>"$STATE/data/pg_hba.conf"
watch --server "$DATABASE -h {server} -p $port" -- \
    /usr/bin/python3 "$CASEBOOK/checked/client.py" {server} "$port" "${QUERIES:-3000}" "$VARIANT"
