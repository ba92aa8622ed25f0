#!/bin/bash
# Usage: run.sh [slow|fixed|beside|apart] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed beside apart -- "$@"
need redis-server redis-cli
port=$(free_port)
# The scores, once as a list and once as a set that is kept in order. Redis reads them from its file when it starts.
quiet() { redis-cli -s "$STATE/socket" "$@" >/dev/null 2>&1; }
redis-server --port 0 --unixsocket "$STATE/socket" --dir "$STATE" --logfile "$STATE/redis.log" &
server_pid=$!
until quiet ping; do sleep 0.05; done
quiet EVAL "for n = 1, 100000 do
    redis.call('RPUSH', 'scores', n * 7919 % 100003)
    redis.call('ZADD', 'ranks', n * 7919 % 100003, n)
end" 0
quiet SHUTDOWN SAVE || true
wait "$server_pid" || true
server_pid=
command="SORT scores LIMIT 0 10" requests=600
client=client.sh
case $VARIANT in
fixed) command="ZRANGE ranks 0 9" requests=4000 ;;
beside) client=beside.sh requests=200 ;;
apart) client=beside.sh command="PING" requests=4000 ;;
esac
watch --server "redis-server --bind {server} --port $port --save '' --appendonly no --dir $STATE --logfile $STATE/redis.log" -- \
    bash "$CASEBOOK/sorted/$client" {server} "$port" "${REQUESTS:-$requests}" $command
