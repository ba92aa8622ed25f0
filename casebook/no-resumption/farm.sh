#!/bin/sh
# Starts two nginx on one port, each with the ticket key in its folder. Usage: farm.sh CASEBOOK STATE ADDRESS PORT
set -eu
"$1/serve-nginx.sh" "$1/no-resumption/farm.conf" "$2/one" "$3" "$4" tls &
one=$!
"$1/serve-nginx.sh" "$1/no-resumption/farm.conf" "$2/two" "$3" "$4" tls &
two=$!
trap 'kill $one $two 2>/dev/null' TERM INT EXIT
wait
