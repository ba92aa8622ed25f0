#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
. "$CASEBOOK/postgresql.sh"
need_driver
port=$(free_port)
database=$(free_port)
prepare_database "$database" <<'SQL'
CREATE TABLE items (id int PRIMARY KEY, name text);
CREATE TABLE orders (id int PRIMARY KEY, item int);
INSERT INTO items SELECT n, 'item ' || n FROM generate_series(1000, 1999) n;
INSERT INTO orders SELECT n, 1000 + n * 7 % 1000 FROM generate_series(1, 60) n;
SQL
cat >"$STATE/serve.sh" <<END
#!/bin/bash
set -eu
$DATABASE -h "\$1" -p $database &
until $bin/pg_isready -q -h "\$1" -p $database; do sleep 0.1; done
exec /usr/bin/python3 $CASEBOOK/queries/server.py "\$1" $port $database \$2
END
echo "host all all all trust" >>"$STATE/data/pg_hba.conf"
how=each requests=150
if [ "$VARIANT" = fixed ]; then how=join requests=600; fi
watch --server "bash $STATE/serve.sh {server} $how" -- \
    "$PYTHON" "$CASEBOOK/queries/client.py" {server} "$port" "${REQUESTS:-$requests}"
