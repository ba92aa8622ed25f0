#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow steps]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need iperf3 ip tc
if [ "$WHYSLOW" = none ] || [ "$(id -u)" != 0 ]; then
    echo "skipped: this needs whyslow, and root for the network namespaces" >&2
    exit 77
fi
keep_no_case
client=whyslow-burst-client-$$ server=whyslow-burst-server-$$
leave_namespaces() {
    ip netns del "$client" 2>/dev/null || true
    ip netns del "$server" 2>/dev/null || true
    leave
}
trap leave_namespaces EXIT
join_namespaces "$client" "$server"
ip netns exec "$server" iperf3 -s >"$STATE/server.log" 2>&1 &
server_pid=$!
# It serves one at a time: asking by connecting would be taken for a client. 5201 is 1451 in the kernel's table, 0A listening.
until ip netns exec "$server" cat /proc/net/tcp /proc/net/tcp6 | grep -q ':1451 [0-9A-F:]* 0A'; do sleep 0.05; done
bucket=(rate 80mbit burst 40000000 latency 50ms)
fast=(rate 400mbit burst 256kb latency 50ms)
shape() { # WORDS... of tbf
    echo "exec ip netns exec $server tc qdisc replace dev eth0 root tbf $*"
}
iperf="ip netns exec $client iperf3 -c 192.0.2.2 -R -i 0.1 -b \$1 -t \$2 -J"
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
