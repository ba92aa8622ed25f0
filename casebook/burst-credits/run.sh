#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow steps]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need iperf3 ip tc
if [ "$WHYSLOW" = none ] || [ "$(id -u)" != 0 ]; then
    echo "skipped: this needs whyslow, and root for the network namespaces" >&2
    exit 77
fi
# A series keeps no case: where one was to go is left out.
options=()
while [ ${#OPTIONS[@]} -gt 0 ]; do
    case ${OPTIONS[0]} in
    -o) OPTIONS=("${OPTIONS[@]:2}") ;;
    *) options+=("${OPTIONS[0]}"); OPTIONS=("${OPTIONS[@]:1}") ;;
    esac
done
client=whyslow-burst-client-$$ server=whyslow-burst-server-$$
leave_namespaces() {
    ip netns del "$client" 2>/dev/null || true
    ip netns del "$server" 2>/dev/null || true
    leave
}
trap leave_namespaces EXIT
ip netns add "$client"
ip netns add "$server"
ip link add eth0 netns "$client" mtu 1500 type veth peer name eth0 netns "$server"
ip -n "$client" addr add 192.0.2.1/24 dev eth0
ip -n "$server" addr add 192.0.2.2/24 dev eth0
ip -n "$client" link set eth0 up
ip -n "$server" link set eth0 up
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
"$WHYSLOW" steps --rate 400mbit --seconds 6 --run "sh $STATE/drive.sh {rate} {seconds}" "${options[@]}" || status=$?
exit "$status"
