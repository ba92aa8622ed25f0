#!/bin/sh
# Asks for one address again and again, with a process for each request. Usage: check.sh URL REQUESTS
set -eu
for number in $(seq "$2"); do
    curl --silent --show-error --fail --output /dev/null "$1"
done
echo "$number requests"
