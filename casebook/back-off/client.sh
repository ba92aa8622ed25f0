#!/bin/sh
# Fetches pages over a connection each; wget sleeps for a second before it tries one again. Usage: client.sh URL PAGES
set -eu
exec wget --no-verbose --no-proxy --no-http-keep-alive --tries=5 --waitretry=1 -O /dev/null \
    $(seq "$2" | sed "s|^|$1/|")
