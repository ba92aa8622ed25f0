# Sourced by run.sh: twisted.
need wrk
/usr/bin/python3 -c 'import twisted' 2>/dev/null || { echo "skipped: python3-twisted is not installed" >&2; exit 77; }
mkdir "$STATE/files"
echo hello >"$STATE/files/hello"
serve <<<"cd $STATE; exec /usr/bin/python3 -m twisted --log-level=error web --listen=tcp:$port:interface=\$address --path=$STATE/files"
load wrk -t1 -c4 "-d${seconds}s" "$url"
