# Sourced by run.sh: etcd.
need etcd ab
printf '{"key":"Zm9v"}' >"$STATE/question"
serve <<END
exec etcd --data-dir $STATE/etcd --log-level error --listen-client-urls http://\$address:$port --advertise-client-urls http://\$address:$port \
    --listen-peer-urls http://127.0.0.1:$behind
END
load ab -q -k -c 4 -n 8000 -p "$STATE/question" -T application/json "http://{server}:$port/v3/kv/range"
