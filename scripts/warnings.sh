#!/bin/bash
# Fails where a log of cargo's has warnings of the compiler's or clippy's, and prints them. Cargo says again what was said of what
# it has built before. Usage: warnings.sh LOG
set -euo pipefail
if ! grep -q '^warning' "$1"; then exit 0; fi
# From each warning to the empty line behind it.
sed -n '/^warning/,/^$/p' "$1" | grep -vE '^ +(Compiling|Executable|Finished) ' >&2
echo "warnings.sh: $(grep -c '^warning.* generated [0-9]* warning' "$1") crates have warnings" >&2
exit 1
