# Sourced by run.sh: mojolicious.
need perl wrk
perl -MMojolicious -e 1 2>/dev/null || { echo "skipped: libmojolicious-perl is not installed" >&2; exit 77; }
serve <<END
exec perl -Mojo -e 'a("/hello" => {text => "hello from the casebook\n"})->log->level("error"); a->start' daemon --listen "http://\$address:$port"
END
load wrk -t1 -c4 "-d${seconds}s" "$url"
