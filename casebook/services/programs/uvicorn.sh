# Sourced by run.sh: uvicorn.
need uvicorn wrk
serve <<<"cd $here; exec /usr/bin/python3 -m uvicorn --log-level warning --no-access-log --host \$address --port $port asgi:application"
load wrk -t1 -c4 "-d${seconds}s" "$url"
