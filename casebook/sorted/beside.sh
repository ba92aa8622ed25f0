#!/bin/bash
# Asks Redis for something quick again and again, while another client asks for something else until this one is done, and prints a
# digest of what was quick. Usage: beside.sh ADDRESS PORT REQUESTS COMMAND...
set -euo pipefail
redis-cli -h "$1" -p "$2" -r -1 "${@:4}" >/dev/null &
other=$!
redis-cli -h "$1" -p "$2" -r "$3" ZRANGE ranks 0 9 | sha256sum
kill "$other"
