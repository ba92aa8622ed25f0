#!/bin/bash
# Usage: run.sh [slow|uneven|mean|same] [options of whyslow compare]
#
# slow    one request in a hundred is long: the 95th percentile
# uneven  services as uneven as files on a web server: the 99th percentile
# mean    the same: the mean
# same    least connections on both sides
. "$(dirname "$0")/../session.sh"
choose_variant slow uneven mean same -- "$@"
need haproxy
port=$(free_port)
before=roundrobin
services=(two 2 200)
figure=p95
case $VARIANT in
same) before=leastconn ;;
# 60 % of what three workers can do: 300 a second, of 6 ms in the mean and 2 at least.
uneven) services=(uneven 2 300) figure=p99 ;;
mean) services=(uneven 2 300) figure=mean ;;
esac
serve="bash $CASEBOOK/balance/serve.sh $PYTHON $STATE {server} $port"
# 80 % of what three workers can do: 300 a second, of 2 ms, and one in a hundred of 200.
compare --a "server=$serve $before 120" --b "server=$serve leastconn 120" --metric "stdout:$figure ([0-9.]+) ms" -- \
    "$PYTHON" "$CASEBOOK/balance/client.py" {server} "$port" "${REQUESTS:-900}" "${RATE:-300}" "${services[@]}"
