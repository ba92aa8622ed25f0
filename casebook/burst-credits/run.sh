#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow steps]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need iperf3 tc
. "$CASEBOOK/namespaces.sh"
keep_no_case
ip netns exec "$SERVER" iperf3 -s >"$STATE/server.log" 2>&1 &
server_pid=$!
await_listener 5201
bucket=(rate 80mbit burst 40000000 latency 50ms)
fast=(rate 400mbit burst 256kb latency 50ms)
shape() { # WORDS... of tbf
    echo "exec ip netns exec $SERVER tc qdisc replace dev eth0 root tbf $*"
}
iperf="ip netns exec $CLIENT iperf3 -c 192.0.2.2 -R -i 0.1 -b \$1 -t \$2 -J"
if [ "$VARIANT" = slow ]; then
    sh -c "$(shape "${bucket[@]}")"
    echo "exec $iperf" >"$STATE/drive.sh"
else
    # By the clock: a second after each start.
    { echo "($(shape "${fast[@]}"))"
      echo "(sleep 1; $(shape rate 80mbit burst 256kb latency 50ms)) &"
      echo "exec $iperf"; } >"$STATE/drive.sh"
fi
status=0
"$WHYSLOW" steps --rate 400mbit --seconds 6 --run "sh $STATE/drive.sh {rate} {seconds}" "${OPTIONS[@]}" || status=$?
exit "$status"
