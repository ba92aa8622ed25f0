#!/bin/bash
# Usage: run.sh [slow|blocked] [options of whyslow run]
#        run.sh [logs|quiet] [options of whyslow logs]
#
# slow     the blog while a crawler goes over its lists: where does the server's CPU time go?
# blocked  the same crawler is turned away, by the rule that `logs` prints
# logs     the access logs of two weeks, in 14 rotated files: who it is, since when, and what blocking saves
# quiet    the same weeks without the crawler
. "$(dirname "$0")/../session.sh"
choose_variant slow blocked logs quiet -- "$@"
case $VARIANT in
logs | quiet)
    if [ "$WHYSLOW" = none ]; then echo "skipped: this needs whyslow" >&2; exit 77; fi
    keep_no_case
    how=()
    if [ "$VARIANT" = quiet ]; then how=(--quiet); fi
    "$PYTHON" "$CASEBOOK/crawler/generate.py" "$STATE/logs" --lines "${LINES_OF_LOGS:-3500000}" "${how[@]}" >&2
    status=0
    "$WHYSLOW" logs "${OPTIONS[@]}" "$STATE/logs" || status=$?
    exit "$status"
    ;;
esac
need nginx
"$PYTHON" "$CASEBOOK/crawler/make_blog.py" "$STATE"
port=$(free_port)
turned_away=nobody requests=80
if [ "$VARIANT" = blocked ]; then turned_away=HarvestBot requests=3000; fi
watch --server "sh $CASEBOOK/crawler/serve.sh $STATE {server} $port $turned_away" -- \
    "$PYTHON" "$CASEBOOK/crawler/crawl.py" {server} "$port" "${REQUESTS:-$requests}"
