#!/bin/sh
# The blog, in the foreground. Usage: serve.sh STATE ADDRESS PORT AGENT: who is turned away from lists of posts.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
sed "s|@TURNED_AWAY@|$4|" "$here/blog.conf" >"$1/blog.conf"
exec sh "$here/../serve-nginx.sh" "$1/blog.conf" "$1" "$2" "$3"
