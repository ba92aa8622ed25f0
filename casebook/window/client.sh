#!/bin/bash
# Downloads a file over HTTP/2 and prints its digest. Usage: client.sh URL [options of nghttp]
set -euo pipefail
nghttp "${@:2}" "$1" | sha256sum
