# Sourced by run.sh: waitress.
need wrk
/usr/bin/python3 -c 'import waitress' 2>/dev/null || { echo "skipped: python3-waitress is not installed" >&2; exit 77; }
serve <<<"cd $here; exec /usr/bin/python3 -m waitress --host=\$address --port=$port wsgi:application"
load wrk -t1 -c4 "-d${seconds}s" "$url"
