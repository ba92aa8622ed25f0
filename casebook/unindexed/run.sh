#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
. "$CASEBOOK/postgresql.sh"
need_driver
port=$(free_port)
requests=60 index=""
if [ "$VARIANT" = fixed ]; then requests=4000 index="CREATE INDEX ON orders (customer);"; fi
prepare_database "$port" <<SQL
CREATE TABLE orders (id int PRIMARY KEY, customer int, total int);
INSERT INTO orders SELECT n, n % 20000, n * 31 % 1000 FROM generate_series(1, 200000) n;
$index
VACUUM ANALYZE orders;
SQL
echo "host all all all trust" >>"$STATE/data/pg_hba.conf"
# One process for each connection does all of it, not two that help.
watch --server "$DATABASE -h {server} -p $port -c max_parallel_workers_per_gather=0" -- \
    /usr/bin/python3 "$CASEBOOK/unindexed/client.py" {server} "$port" "${REQUESTS:-$requests}"
