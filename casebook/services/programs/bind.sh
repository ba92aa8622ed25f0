# Sourced by run.sh: bind.
need named dnsperf
seq 20000 | sed 's/.*/host&.casebook.test A/' >"$STATE/questions"
printf '$TTL 60\n@ SOA casebook.test. root.casebook.test. 1 60 60 60 60\n@ NS casebook.test.\n@ A 192.0.2.7\n* A 192.0.2.7\n' >"$STATE/zone"
serve <<END
printf 'options { listen-on port %s { %s; }; listen-on-v6 { none; }; directory "%s"; pid-file none; recursion no; };\nzone "casebook.test" { type primary; file "%s/zone"; };\n' \
    $port "\$address" $STATE $STATE >$STATE/named.conf
exec named -f -n 1 -c $STATE/named.conf
END
load dnsperf -s {server} -p "$port" -d "$STATE/questions" -l "$seconds"
