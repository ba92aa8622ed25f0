#!/bin/bash
# Usage: run.sh [slow|alike|gnutls|python] [options of whyslow bisect]
# REQUESTS  how many each run makes (20)
. "$(dirname "$0")/../session.sh"
choose_variant slow alike gnutls python -- "$@"
need nginx openssl
make_authority
port=$(free_port)
here=$CASEBOOK/upgrade
server="$CASEBOOK/serve-nginx.sh $CASEBOOK/nginx.conf $STATE {server} $port tls"
asked=(--cacert "$STATE/bundle.pem" "${REQUESTS:-20}" "https://{server}:$port/hello")

# The same source with both flavours of libcurl, before anything is watched. The state's folder is seen in every world; the
# source is known by its place in the casebook.
compile() {
    cp "$here/curl-test.c" "$STATE"
    (
        cd "$STATE"
        # Not inlined: so a place in the source is that of the call.
        words=(-std=gnu17 -O2 -fno-inline -g "-fdebug-prefix-map=$STATE=$here" curl-test.c -o)
        packages=(gcc libc6-dev libcurl4-openssl-dev libcurl3-gnutls)
        compile_in bullseye "${packages[@]}" -- "${words[@]}" curl-test -lcurl
        if [ "$WHYSLOW" != none ] || [ "$VARIANT" = gnutls ]; then
            compile_in bullseye "${packages[@]}" -- "${words[@]}" curl-test-gnutls -l:libcurl-gnutls.so.4
        fi
    )
}

good=debian:bullseye bad=debian:bookworm packages=(libcurl4 libcurl3-gnutls ca-certificates) control=()
case $VARIANT in
slow)
    compile
    command=("$STATE/curl-test" "${asked[@]}")
    control=(--control "$STATE/curl-test-gnutls ${asked[*]}")
    ;;
# Nothing differs between a world and itself.
alike)
    compile
    good=$bad
    command=("$STATE/curl-test" "${asked[@]}")
    ;;
# The other flavour alone.
gnutls)
    compile
    command=("$STATE/curl-test-gnutls" "${asked[@]}")
    ;;
# No libcurl at all: the interpreter's own ssl, which uses OpenSSL as well.
python)
    packages=(python3 ca-certificates)
    if [ "$WHYSLOW" = none ]; then python=$PYTHON; else python=/usr/bin/python3; fi
    command=("$python" "$here/client.py" "${asked[@]}")
    ;;
esac
wanted=()
for package in "${packages[@]}"; do wanted+=(--package "$package"); done
bisect --good "$good" --bad "$bad" "${wanted[@]}" "${control[@]}" --server "$server" -- "${command[@]}"
