#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need redis-server redis-cli
port=$(free_port)
how=polls jobs=40
if [ "$VARIANT" = fixed ]; then how=waits jobs=150; fi
cat >"$STATE/serve.sh" <<END
#!/bin/bash
set -eu
trap 'kill \$(jobs -p) 2>/dev/null || true' EXIT
trap 'exit 143' TERM INT
redis-server --bind "\$1" --port $port --save '' --appendonly no --dir $STATE --logfile $STATE/redis.log &
until redis-cli -h "\$1" -p $port ping >/dev/null 2>&1; do sleep 0.05; done
$PYTHON $CASEBOOK/jobs/worker.py "\$1" $port &
wait -n
END
watch --server "bash $STATE/serve.sh {server}" -- \
    "$PYTHON" "$CASEBOOK/jobs/client.py" {server} "$port" "${REQUESTS:-$jobs}" "$how"
