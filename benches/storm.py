"""An event storm: a million calls a second for half a minute. Nothing may be lost uncounted, nor grow without limit."""

import os
import subprocess
import time

from workshop import WHYSLOW, Workshop, answer_of, measured, progress, rows_of

SECONDS = 30
LIMIT_BYTES = 1_000_000_000


def folder_size(folder):
    """Bytes of all files below; files that vanish meanwhile count nothing."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(parent, name)).st_size
            except FileNotFoundError:
                pass
    return total


def watch(workshop, storm, case):
    """Runs the storm watched: (stdout, stderr, peak memory, peak size of the case)."""
    out, err = workshop.path("out"), workshop.path("err")
    command = [WHYSLOW, "run", "--no-prove", "--json", "-o", case, "--", storm, str(SECONDS)]
    with open(out, "w", encoding="utf-8") as stdout, open(err, "w", encoding="utf-8") as stderr:
        child = subprocess.Popen(command, stdout=stdout, stderr=stderr)
    peak = 0
    while True:
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        peak = max(peak, folder_size(case))
        if pid:
            break
        time.sleep(0.2)
    child.returncode = os.waitstatus_to_exitcode(status)
    with open(out, encoding="utf-8") as stdout, open(err, encoding="utf-8") as stderr:
        return child.returncode, stdout.read(), stderr.read(), usage.ru_maxrss * 1024, peak


def section():
    """The section of docs/benchmarks.md; fails where losses are not counted, says where the limit is passed."""
    progress(f"storm: {SECONDS} s")
    with Workshop() as workshop:
        storm = workshop.compile("storm")
        case = workshop.case()
        start = time.perf_counter()
        status, stdout, stderr, memory, size = watch(workshop, storm, case)
        whole = time.perf_counter() - start
        if status not in (0, 1):
            raise SystemExit(f"benchmark: whyslow failed with {status} in the storm:\n{stderr[-2000:]}")
        made, wall, _ = measured(stderr)
        lost = answer_of(stdout)["losses"]["events"]
        rows = rows_of(case)
    accounted = rows["calls"] + rows.get("lost.calls", 0)
    # The program makes some dozens of calls besides those it counts: starting, the clock where it is no vDSO, printing.
    if accounted < made:
        raise SystemExit(f"benchmark: {made:,} calls were made, {accounted:,} recorded or counted as lost")
    verdict = "kept" if memory + size <= LIMIT_BYTES else "BROKEN"
    return [
        "## Event storm",
        "",
        f"One thread reads zeros a byte at a time for {SECONDS} s, at up to a million calls per second, all recorded.",
        "",
        "| calls made | calls per second | calls recorded | calls lost | peak memory | largest case | time to answer |",
        "|---|---|---|---|---|---|---|",
        f"| {made:,} | {made / wall:,.0f} | {rows['calls']:,} | {lost:,} | {memory / 1e6:.0f} MB | {size / 1e6:.0f} MB | {whole:.1f} s |",
        "",
        f"Calls recorded and calls lost add up to calls made. The limit of {LIMIT_BYTES / 1e9:g} GB for memory and case together",
        f"was {verdict}. Memory is the peak of the whole run, diagnosis included.",
    ]
