#!/bin/bash
# Asks Redis the same again and again, and prints a digest of what it says. Usage: client.sh ADDRESS PORT REQUESTS COMMAND...
set -euo pipefail
redis-cli -h "$1" -p "$2" -r "$3" "${@:4}" | sha256sum
