#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
. "$CASEBOOK/postgresql.sh"
port=$(free_port)
prepare_database "$port" <<<"CREATE TABLE counters (id int PRIMARY KEY, hits int);
INSERT INTO counters SELECT id, 0 FROM generate_series(1, 64) id;"
echo "host all all all trust" >>"$STATE/data/pg_hba.conf"
row=1
if [ "$VARIANT" = fixed ]; then row=":client_id + 1"; fi
# What the application does between the two statements takes 3 ms, and the transaction is open meanwhile.
cat >"$STATE/count.sql" <<END
BEGIN;
UPDATE counters SET hits = hits + 1 WHERE id = $row;
\sleep 3 ms
COMMIT;
END
watch --server "$DATABASE -h {server} -p $port -c synchronous_commit=off" -- \
    "$bin/pgbench" -h {server} -p "$port" -U postgres -n -c 6 -j 1 -t "${REQUESTS:-60}" -f "$STATE/count.sql" postgres
