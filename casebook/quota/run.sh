#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
port=$(free_port)
GROUP=
HOME_GROUP=

# Enters a control group that is allowed 20 ms of CPU time in each 100 ms, as in a container with a limit:
# version 1's cpu controller where it is there, else version 2's. It is left and removed when the script ends, however
# it ends; nothing else is touched.
enter_group() {
    local folder
    for folder in /sys/fs/cgroup/cpu /sys/fs/cgroup/cpu,cpuacct /sys/fs/cgroup; do
        HOME_GROUP=$folder$(own_path "$folder")
        GROUP=$folder/whyslow-story-$$
        mkdir "$GROUP" 2>/dev/null || continue
        trap 'leave_group || true; leave' EXIT
        if limit && echo $$ >"$GROUP/cgroup.procs"; then return; fi 2>/dev/null
        rmdir "$GROUP"
    done
    GROUP=
    echo "skipped: no control group with a quota can be made here" >&2
    exit 77
}

limit() {
    if [ -f "$GROUP/cpu.cfs_quota_us" ]; then
        echo 100000 >"$GROUP/cpu.cfs_period_us" && echo 20000 >"$GROUP/cpu.cfs_quota_us"
    else
        [ -f "$GROUP/cpu.max" ] && echo "20000 100000" >"$GROUP/cpu.max"
    fi
}

# Where this shell is in the hierarchy mounted at a folder.
own_path() { # FOLDER
    local controllers=cpu
    if [ "$1" = /sys/fs/cgroup ]; then controllers=; fi
    awk -F: -v wanted="$controllers" '{ n = split($2, has, ","); if (n == 0) has[n = 1] = ""
        for (i = 1; i <= n; i++) if (has[i] == wanted) { print $3; exit } }' /proc/$$/cgroup
}

# A group can go once its last process is gone; whyslow has ended the server by then.
leave_group() {
    local turn
    # Bare, `return` would hand on the status that the script ends with.
    if [ ! -d "$GROUP" ]; then return 0; fi
    echo $$ >"$HOME_GROUP/cgroup.procs"
    for turn in 1 2 3 4 5 6 7 8 9; do
        if rmdir "$GROUP" 2>/dev/null; then return 0; fi
        sleep "0.$turn"
    done
    echo "run.sh: $GROUP is still in use and stays" >&2
}

if [ "$VARIANT" = slow ]; then enter_group; fi
watch --server "$PYTHON $CASEBOOK/quota/server.py {server} $port 60" -- \
    "$PYTHON" "$CASEBOOK/quota/client.py" {server} "$port" "${REQUESTS:-40}"
