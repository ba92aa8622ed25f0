#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
# REQUESTS  how many pages are asked for (default 12)
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need haproxy
port=$(free_port)
behind=$(free_port)
dead=
if [ "$VARIANT" = slow ]; then dead=$(free_port); fi
cat >"$STATE/serve.sh" <<END
#!/bin/bash
# Two servers of which one is dead, or one that is well, and a proxy before them.
cat >$STATE/haproxy.cfg <<CFG
defaults
  mode http
  timeout connect 200ms
  timeout client 30s
  timeout server 30s
  option redispatch 1
frontend all
  bind \$1:$port
  default_backend pages
backend pages
  balance roundrobin
  http-reuse never
  ${dead:+server dead \$1:$dead}
  server well \$1:$behind
CFG
"$PYTHON" $CASEBOOK/upstream/back.py \$1 $behind $dead &
sleep 0.5
PATH=\$PATH:/usr/sbin exec haproxy -db -f $STATE/haproxy.cfg
END
chmod 755 "$STATE" "$STATE/serve.sh"
watch --server "$STATE/serve.sh {server}" -- "$PYTHON" "$CASEBOOK/upstream/client.py" {server} "$port" "${REQUESTS:-12}"
