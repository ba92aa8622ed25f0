#!/bin/bash
# Usage: run.sh [slow|proxy|fixed|fixed-proxy] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow proxy fixed fixed-proxy -- "$@"
port=$(free_port)
behind=$(free_port)
# Writes the server's script, which ends with the first of its programs, and ends the others.
serve_by() { # its programs on standard input
    { cat <<'END'
#!/bin/bash
set -eu
PATH=$PATH:/usr/sbin:/sbin
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
trap 'exit 143' TERM INT
END
      cat
      echo 'wait -n'; } >"$STATE/serve.sh"
}
if [ "${VARIANT%proxy}" != "$VARIANT" ]; then
    need haproxy ab
    limit='maxconn 1'
    if [ "$VARIANT" = fixed-proxy ]; then limit=; fi
    serve_by <<END
sed "s|@ADDRESS@|\$1|g; s|@PORT@|$port|; s|@BEHIND@|$behind|; s|@LIMIT@|$limit|" $CASEBOOK/pool/haproxy.cfg >$STATE/haproxy.cfg
$PYTHON $CASEBOOK/line/server.py "\$1" $behind many &
haproxy -db -f $STATE/haproxy.cfg &
END
    watch --server "bash $STATE/serve.sh {server}" -- ab -q -c 6 -n "${REQUESTS:-180}" "http://{server}:$port/"
    exit
fi
need pgbench pgbouncer
. "$CASEBOOK/postgresql.sh"
connections=2
if [ "$VARIANT" = fixed ]; then connections=20; fi
echo "host all all all trust" >>"$STATE/data/pg_hba.conf"
echo "SELECT pg_sleep(0.01);" >"$STATE/question.sql"
serve_by <<END
sed "s|@ADDRESS@|\$1|g; s|@PORT@|$port|; s|@BEHIND@|$behind|; s|@CONNECTIONS@|$connections|" $CASEBOOK/pool/pgbouncer.ini >$STATE/pgbouncer.ini
$DATABASE -h "\$1" -p $behind &
until $bin/pg_isready -q -h "\$1" -p $behind; do sleep 0.1; done
$as pgbouncer -q $STATE/pgbouncer.ini &
END
watch --server "bash $STATE/serve.sh {server}" -- \
    pgbench -n -c 8 -t "${REQUESTS:-60}" -f "$STATE/question.sql" -h {server} -p "$port" -U postgres postgres
