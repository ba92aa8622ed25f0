#!/bin/sh
# Asks again and again by curl, each time by a new process. Usage: client.sh URL REQUESTS
set -eu
number=0
while [ "$number" -lt "$2" ]; do
    curl --silent --fail --output /dev/null "$1"
    number=$((number + 1))
done
echo "$2 pages"
