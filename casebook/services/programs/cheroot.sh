# Sourced by run.sh: cheroot.
need wrk
/usr/bin/python3 -c 'import cheroot' 2>/dev/null || { echo "skipped: python3-cheroot is not installed" >&2; exit 77; }
serve <<<"cd $here; exec /usr/bin/python3 -m cheroot --bind \$address:$port wsgi:application"
load wrk -t1 -c4 "-d${seconds}s" "$url"
