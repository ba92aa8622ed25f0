# Sourced by run.sh: unbound.
need unbound dnsperf
seq 20000 | sed 's/.*/host&.casebook.test A/' >"$STATE/questions"
serve <<END
cat >$STATE/unbound.conf <<CFG
server:
  interface: \$address
  port: $port
  access-control: 0.0.0.0/0 allow
  do-daemonize: no
  chroot: ""
  username: ""
  pidfile: ""
  directory: "$STATE"
  use-syslog: no
  local-zone: "casebook.test." redirect
  local-data: "casebook.test. A 192.0.2.7"
remote-control:
  control-enable: no
CFG
exec unbound -c $STATE/unbound.conf
END
load dnsperf -s {server} -p "$port" -d "$STATE/questions" -l "$seconds"
