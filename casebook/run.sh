#!/bin/bash
# Runs a story: by its own run.sh, or as [start] in its story.toml says, where it needs nothing but programs in Python, an
# address and a port.
# Usage: run.sh STORY [VARIANT] [options of whyslow run]
folder=$(dirname "$0")
if [ $# = 0 ] || [ ! -d "$folder/$1" ]; then echo "run.sh: name a story, like run.sh nagle slow" >&2; exit 2; fi
if [ -e "$folder/$1/run.sh" ]; then exec bash "$folder/$1/run.sh" "${@:2}"; fi
. "$folder/session.sh"
STORY=$CASEBOOK/$1
shift

# What the story declares: its variants, or how one of them is started, in three lines.
declared() { # variants|NAME
    "$PYTHON" - "$STORY" "$CASEBOOK" "$1" "${port:-}" "$STATE" "${REQUESTS:-}" <<'END'
import pathlib, sys

try:
    import tomllib
except ImportError:
    sys.exit(77)
story, casebook, wanted, port, state, requests = sys.argv[1:]
declaration = tomllib.loads(pathlib.Path(story, "story.toml").read_text())
if wanted == "variants":
    sys.exit(print(*(variant["name"] for variant in declaration["variant"])))
variant = next(variant for variant in declaration["variant"] if variant["name"] == wanted)
start = declaration["start"] | variant.get("start", {})
requests = requests or start.get("requests", "")
for role in ("server", "client"):
    program = pathlib.Path(story, variant.get(role, declaration["subject"][role]))
    if not program.exists():
        program = pathlib.Path(casebook, program.name)
    words = start[role].replace("{port}", port).replace("{state}", state).replace("{requests}", str(requests))
    print(sys.executable, program, words)
print(variant.get("link", declaration.get("world", {}).get("link", "")))
END
}

variants=$(declared variants) || { echo "skipped: stories without a run.sh need Python 3.11" >&2; exit 77; }
read -ra variants <<<"$variants"
choose_variant "${variants[@]}" -- "$@"
port=$(free_port)
mapfile -t lines < <(declared "$VARIANT")
read -ra client <<<"${lines[1]}"
link=()
if [ -n "${lines[2]}" ]; then link=(--link "${lines[2]}"); fi
watch "${link[@]}" --server "${lines[0]}" -- "${client[@]}"
