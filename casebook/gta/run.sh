#!/bin/bash
# Usage: run.sh [slow|fixed|searching|needed|linear|sorting] [run|sweep] [options of whyslow run or sweep]
# ITEMS  how many the list has (`run`), or what is walked through (`sweep`)
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed searching needed linear sorting -- "$@"
choose_mode run sweep
need gcc
program=$VARIANT source=$VARIANT defined=() repeated=() items=16000 range=500..8000:log VALUES=${VALUES:-1000 2000 4000 8000}
# Where nothing grows out of hand, more items are needed for times that mean anything.
case $VARIANT in
slow) program=gta source=gta ;;
# The search alone, which nothing known is said of.
searching) source=fixed defined=(-DSEARCHES) items=50000 ;;
fixed | linear | sorting) items=500000 range=20000..640000:log ;;
# Every tenth item is there already: what looks for it cannot be left out.
needed) program=gta source=gta repeated=(10) ;;
esac
# Compiles before anything is watched: a compiler is not what the story is about.
gcc -std=gnu17 -O2 -g "${defined[@]}" -o "$STATE/$program" "$CASEBOOK/gta/$source.c" "$CASEBOOK/gta/items.c"
if [ "$MODE" = sweep ]; then
    sweep --vary "items=${ITEMS:-$range}" -- "$STATE/$program" {items} "${repeated[@]}"
else
    watch -- "$STATE/$program" "${ITEMS:-$items}" "${repeated[@]}"
fi
