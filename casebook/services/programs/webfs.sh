# Sourced by run.sh: webfs.
need webfsd ab
mkdir "$STATE/files"
echo hello >"$STATE/files/hello"
serve <<<"exec webfsd -F -i \$address -p $port -r $STATE/files"
load ab -q -k -c 4 -n 20000 "$url"
