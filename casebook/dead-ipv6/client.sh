#!/bin/bash
# A curl for each order, from a name with an address of each family. Usage: client.sh PORT REQUESTS
for ((order = 0; order < $2; order++)); do
    curl --silent --show-error --noproxy '*' --max-time 10 --output /dev/null \
        --resolve "orders.test:$1:[::1],127.0.0.1" "http://orders.test:$1/$order" || exit
done
echo "$2 orders"
