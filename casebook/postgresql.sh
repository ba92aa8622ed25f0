# Sourced by the stories with a database: makes a PostgreSQL cluster in STATE, and tells how to start it.
#
# Sets DATABASE: the words that start it in the foreground, but for its address, port and what else a story wants.

need pg_isready setpriv
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -1)
if [ -z "$bin" ]; then echo "skipped: PostgreSQL is not installed" >&2; exit 77; fi
if [ "$(id -u)" != 0 ]; then echo "skipped: not root, and so cannot become postgres" >&2; exit 77; fi
mkdir "$STATE/data"
chown postgres "$STATE/data"
chmod 755 "$STATE"
as="setpriv --reuid=postgres --regid=postgres --clear-groups"
$as "$bin/initdb" -D "$STATE/data" -A trust --no-sync >/dev/null
DATABASE="$as $bin/postgres -D $STATE/data -k $STATE/data"

# Runs SQL from standard input in the cluster, before the story begins.
prepare_database() { # PORT
    $as "$bin/pg_ctl" -D "$STATE/data" -w -s -l "$STATE/data/log" -o "-h 127.0.0.1 -p $1 -k $STATE/data" start
    psql -q -h 127.0.0.1 -p "$1" -U postgres postgres
    $as "$bin/pg_ctl" -D "$STATE/data" -w -s stop
}

# Python's driver is a package of Debian's, for Debian's interpreter.
need_driver() {
    if ! /usr/bin/python3 -c 'import psycopg2' 2>/dev/null; then
        echo "skipped: python3-psycopg2 is not installed" >&2
        exit 77
    fi
}

# A thousand items, which anybody may read.
prepare_items() { # PORT
    prepare_database "$1" <<<"CREATE TABLE items (id int PRIMARY KEY, name text);
INSERT INTO items SELECT n, 'item ' || n FROM generate_series(0, 999) n;"
    echo "host all all all trust" >>"$STATE/data/pg_hba.conf"
}
