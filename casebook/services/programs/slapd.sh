# Sourced by run.sh: slapd.
need slapd ldapsearch
mkdir "$STATE/data"
for i in $(seq 300); do printf 'cn=person%s\n' "$i"; done >"$STATE/names"
serve <<END
cat >$STATE/slapd.conf <<CFG
include /etc/ldap/schema/core.schema
modulepath /usr/lib/ldap
moduleload back_mdb
database mdb
suffix dc=test
rootdn cn=admin,dc=test
rootpw secret
directory $STATE/data
CFG
printf 'dn: dc=test\nobjectClass: dcObject\nobjectClass: organization\no: test\ndc: test\n' | slapadd -f $STATE/slapd.conf
exec slapd -d 0 -f $STATE/slapd.conf -h ldap://\$address:$port/
END
load ldapsearch -LLL -x -H "ldap://{server}:$port" -b dc=test -f "$STATE/names" '(%s)'
