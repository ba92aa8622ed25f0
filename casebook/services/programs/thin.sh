# Sourced by run.sh: thin.
need thin wrk
serve <<<"cd $STATE; exec thin --quiet --address \$address --port $port --rackup $here/config.ru start"
load wrk -t1 -c4 "-d${seconds}s" "$url"
