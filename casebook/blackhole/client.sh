#!/bin/bash
# Asks for a few bytes and for a page over a connection, again and again. Usage: client.sh URL TIMES
for _ in $(seq "$2"); do
    curl --silent --fail --output /dev/null "$1/small" --output /dev/null "$1/page" || exit
done
