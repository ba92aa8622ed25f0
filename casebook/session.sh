# Sourced by every run.sh of the casebook. Owns what a story needs while it runs: a state folder that goes with the
# script, free ports, a certificate, and the one way to start the commands: watched by whyslow, or bare.
#
# Promises: nothing outlives the script but the case; two runs at a time never share a port or a file.
#
# WHYSLOW  the binary; `none` runs the story without it, both ends on the loopback (default: the release build)
# PYTHON   the interpreter; a launcher script such as a version manager's shim is resolved to what it starts

set -euo pipefail

CASEBOOK=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
WHYSLOW=${WHYSLOW:-$CASEBOOK/../target/release/whyslow}
PYTHON=$("${PYTHON:-python3}" -c 'import sys; print(sys.executable)')

# Not under /tmp, which may be memory: a story about the disk needs a disk.
STATE=$(mktemp -d "${TMPDIR:-/var/tmp}/whyslow-story.XXXXXX")
server_pid=
leave() {
    if [ -n "$server_pid" ]; then kill "$server_pid" 2>/dev/null || true; fi
    rm -rf "$STATE"
}
trap leave EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Splits a story's own word (slow, fixed, a program's name) from the options meant for whyslow.
# Sets VARIANT and OPTIONS. The first allowed word is the default.
choose_variant() { # ALLOWED... -- GIVEN...
    local allowed=()
    while [ "$1" != -- ]; do allowed+=("$1"); shift; done
    shift
    VARIANT=${allowed[0]}
    if [ $# -gt 0 ] && [ "${1#-}" = "$1" ]; then
        VARIANT=$1
        shift
        case " ${allowed[*]} " in
        *" $VARIANT "*) ;;
        *) echo "run.sh: unknown variant '$VARIANT'; there are: ${allowed[*]}" >&2; exit 2 ;;
        esac
    fi
    OPTIONS=("$@")
}

# Takes a second word of the story's own off OPTIONS: how it is to be watched. Sets MODE. The first is the default.
choose_mode() { # ALLOWED...
    local mode
    MODE=$1
    for mode; do
        if [ "${OPTIONS[0]:-}" = "$mode" ]; then
            MODE=$mode
            OPTIONS=("${OPTIONS[@]:1}")
            return
        fi
    done
}

# Exits with 77, the customary status of a skipped test, where a command is missing.
need() { # COMMAND...
    local command
    for command; do
        if ! PATH=$PATH:/usr/sbin:/sbin command -v "$command" >/dev/null; then
            echo "skipped: $command is not installed" >&2
            exit 77
        fi
    done
}

# A TCP port that nothing listens on now.
free_port() {
    "$PYTHON" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# A key and a self-signed certificate for casebook.test, valid for a day: $STATE/key.pem, $STATE/certificate.pem.
# The key is of the elliptic curve P-256, or what is passed for `openssl req -newkey`.
make_certificate() { # [KEY]
    local key=(ec -pkeyopt ec_paramgen_curve:prime256v1)
    if [ $# -gt 0 ]; then key=("$1"); fi
    openssl req -x509 -newkey "${key[@]}" -nodes -days 1 -subj /CN=casebook.test \
        -addext subjectAltName=DNS:casebook.test -keyout "$STATE/key.pem" -out "$STATE/certificate.pem" 2>"$STATE/openssl.log" ||
        { cat "$STATE/openssl.log" >&2; exit 2; }
}

# A key and a certificate for 127.0.0.1, of an authority made for it, and the distribution's bundle with that authority
# behind it: $STATE/key.pem, $STATE/certificate.pem, $STATE/bundle.pem. Whoever trusts the bundle reads all of it.
make_authority() {
    local curve=(ec -pkeyopt ec_paramgen_curve:prime256v1)
    {
        openssl req -x509 -newkey "${curve[@]}" -nodes -days 1 -subj '/CN=the casebook' -addext keyUsage=critical,keyCertSign \
            -keyout "$STATE/authority-key.pem" -out "$STATE/authority.pem" &&
            openssl req -newkey "${curve[@]}" -nodes -subj /CN=casebook.test -keyout "$STATE/key.pem" -out "$STATE/request.pem" &&
            openssl x509 -req -in "$STATE/request.pem" -CA "$STATE/authority.pem" -CAkey "$STATE/authority-key.pem" \
                -set_serial 2 -days 1 -extfile <(echo subjectAltName=IP:127.0.0.1,DNS:casebook.test) -out "$STATE/certificate.pem"
    } >"$STATE/openssl.log" 2>&1 || { cat "$STATE/openssl.log" >&2; exit 2; }
    cat /etc/ssl/certs/ca-certificates.crt "$STATE/authority.pem" >"$STATE/bundle.pem"
}

# Takes -o and its folder off OPTIONS, for a command whose answer keeps no case.
keep_no_case() {
    local kept=()
    while [ ${#OPTIONS[@]} -gt 0 ]; do
        case ${OPTIONS[0]} in
        -o) OPTIONS=("${OPTIONS[@]:2}") ;;
        *) kept+=("${OPTIONS[0]}"); OPTIONS=("${OPTIONS[@]:1}") ;;
        esac
    done
    OPTIONS=("${kept[@]}")
}

# Compiles a C program where the C library is oldest, in a Debian release of its own: it then starts in all later ones.
# Bare, it is compiled here. Exits with 77 where the release is not there and cannot be had.
compile_in() { # SUITE PACKAGE... -- GCC'S WORDS...
    local suite=$1 packages=() mirror=http://deb.debian.org/debian
    shift
    while [ "$1" != -- ]; do packages+=(--package "$1"); shift; done
    shift
    if [ "$WHYSLOW" = none ]; then need gcc; gcc "$@"; return; fi
    hand_over_state
    # Not to standard output: that is the answer's.
    if "$WHYSLOW" world run "debian:$suite" "${packages[@]}" -- gcc "$@" >&2; then return; fi
    if ! "$PYTHON" -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=10)' "$mirror/dists/$suite/Release" 2>/dev/null; then
        echo "skipped: $mirror cannot be reached, and $suite is not there yet" >&2
        exit 77
    fi
    exit 2
}

# Under sudo the subject runs as the caller, who then must be able to read the state.
hand_over_state() {
    if [ -n "${SUDO_UID:-}" ] && [ "$(id -u)" = 0 ]; then chown -R "$SUDO_UID:${SUDO_GID:-$SUDO_UID}" "$STATE"; fi
}

# Runs a story: watched, or bare where WHYSLOW=none. {server} in both commands is the server's address.
# OPTIONS of choose_variant come last, so that they can override the story's own.
watch() { # [--link SPEC] [--server COMMAND] -- CLIENT...
    whyslow_with run "$@"
}

# The same for `whyslow compare`: own options, the first side's command, `--` and the second side's.
compare() { # [--server COMMAND] [--a KEY=VALUE] [--b KEY=VALUE] [COMMAND] -- CLIENT...
    whyslow_with compare "$@"
}

# The same for `whyslow sweep`. Bare, {NAME} in the client's command takes each of the words in VALUES.
sweep() { # --vary NAME=VALUES [--link SPEC] [--server COMMAND] -- CLIENT...
    whyslow_with sweep "$@"
}

# The same for `whyslow bisect` and `whyslow matrix`. Bare, the client runs once here.
bisect() { # --good WORLD --bad WORLD [--server COMMAND] -- CLIENT...
    whyslow_with bisect "$@"
}
matrix() { # --library NAME=VERSION,... [--server COMMAND] -- CLIENT...
    whyslow_with matrix "$@"
}

whyslow_with() { # run|compare|sweep|bisect|matrix OPTION... -- CLIENT...
    local command=$1 own=() status=0
    shift
    hand_over_state
    if [ "$WHYSLOW" = none ]; then bare "$@"; return; fi
    while [ "$1" != -- ]; do own+=("$1"); shift; done
    shift
    "$WHYSLOW" "$command" "${own[@]}" "${OPTIONS[@]}" -- "$@" || status=$?
    return "$status"
}

# The same commands without whyslow and without a link, on the loopback: one after another where there are several.
bare() {
    local server='' other='' first='' parameter='' value words
    while [ "$1" != -- ]; do
        case $1 in
        --server) server=$2; shift 2 ;;
        --a) case $2 in server=*) server=${2#server=} ;; esac; shift 2 ;;
        --b) case $2 in server=*) other=${2#server=} ;; esac; shift 2 ;;
        --vary) parameter=${2%%=*}; shift 2 ;;
        --*) shift 2 ;;
        *) first=$1; shift ;;
        esac
    done
    shift
    if [ -n "$parameter" ]; then
        for value in $VALUES; do
            printf '%s=%s: ' "$parameter" "$value"
            alone "$server" "${@//\{$parameter\}/$value}" || return
        done
        return
    fi
    if [ -n "$first" ]; then
        read -ra words <<<"$first"
        alone "$server" "${words[@]}" || return
    elif [ -n "$other" ]; then
        alone "$server" "$@" || return
    fi
    alone "${other:-$server}" "$@"
}

# One client, and its server where it has one.
alone() { # SERVER CLIENT...
    local server=$1 status=0 words
    shift
    if [ -n "$server" ]; then
        read -ra words <<<"${server//\{server\}/127.0.0.1}"
        "${words[@]}" &
        server_pid=$!
        # No look at the sockets here: a second is long enough for every server of the casebook.
        sleep 1
    fi
    "${@//\{server\}/127.0.0.1}" || status=$?
    if [ -n "$server_pid" ]; then kill "$server_pid" 2>/dev/null || true; wait "$server_pid" 2>/dev/null || true; server_pid=; fi
    return "$status"
}
