# Sourced by run.sh: svnserve.
need svnserve svn svnadmin
svnadmin create "$STATE/repository"
mkdir "$STATE/tree"
for i in $(seq 200); do seq "$i" 1000 >"$STATE/tree/$i"; done
svn import -q -m files "$STATE/tree" "file://$STATE/repository/trunk"
serve <<<"exec svnserve --daemon --foreground --root=$STATE/repository --listen-host=\$address --listen-port=$port"
load bash -c "rm -rf $STATE/copy && exec svn checkout -q --config-dir $STATE/svn svn://{server}:$port/trunk $STATE/copy"
