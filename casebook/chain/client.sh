#!/bin/bash
# Gets a page with a new curl, so a new connection, again and again, and says what came. Usage: client.sh URL TIMES CERTIFICATE
for _ in $(seq "$2"); do
    curl --silent --fail --output /dev/null --write-out '%{http_code} %{size_download}\n' --cacert "$3" --resolve "casebook.test:${1##*:}:${1%:*}" "https://casebook.test:${1##*:}/page" || exit
done
