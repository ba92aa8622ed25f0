#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
. "$CASEBOOK/postgresql.sh"
port=$(free_port)
prepare_database "$port" <<<"CREATE TABLE readings (id int, value int);"
echo "host all all all trust" >>"$STATE/data/pg_hba.conf"
rows=${REQUESTS:-300}
# A row is a statement, and unless somebody says otherwise a statement is a transaction.
if [ "$VARIANT" = fixed ]; then rows=$((10 * rows)); fi
{
    if [ "$VARIANT" = fixed ]; then echo "BEGIN;"; fi
    for number in $(seq 1000 $((999 + rows))); do echo "INSERT INTO readings VALUES ($number, 17);"; done
    if [ "$VARIANT" = fixed ]; then echo "COMMIT;"; fi
} >"$STATE/rows.sql"
watch --server "$DATABASE -h {server} -p $port" -- \
    psql -q -h {server} -p "$port" -U postgres -f "$STATE/rows.sql" postgres
