#!/bin/bash
# Fetches one small page again and again, with a fresh curl each time: a connection, and over HTTPS a handshake, for
# every request. Usage: client.sh SCHEME ADDRESS PORT CERTIFICATE REQUESTS
scheme=$1 address=$2 port=$3 certificate=$4 requests=$5
for ((request = 0; request < requests; request++)); do
    curl --silent --fail --output /dev/null --cacert "$certificate" --resolve "casebook.test:$port:$address" \
        "$scheme://casebook.test:$port/hello" || exit 1 # casebook: a process and a connection for each request
done
echo "$requests requests"
