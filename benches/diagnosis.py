"""How long the diagnosis of a large case takes, and how much memory."""

import os
import statistics
import subprocess
import time

from workshop import RELEASE, WHYSLOW, Workshop, answer_of, progress, run

REPEATS = 3

# Events, and the aim for the time in seconds.
SIZES = [(1_000_000, 0.2), (10_000_000, 1.5)]


def report(case):
    """Diagnoses a case once: (seconds, peak memory in bytes, answer)."""
    start = time.perf_counter()
    child = subprocess.Popen([WHYSLOW, "report", case, "--json"], stdout=subprocess.PIPE, text=True)
    stdout = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 1):
        raise SystemExit(f"benchmark: whyslow report failed with {child.returncode}")
    return seconds, usage.ru_maxrss * 1024, answer_of(stdout)


def section():
    """The section of docs/benchmarks.md."""
    lines = [
        "## Diagnosis",
        "",
        f"`whyslow report` on synthetic cases (calls, switches and segments of both ends of one connection); median of {REPEATS}.",
        "",
        "| events | exchanges | time | target | peak memory |",
        "|---|---|---|---|---|",
    ]
    with Workshop() as workshop:
        for events, aim in SIZES:
            progress(f"diagnosis: {events:,} events")
            case = workshop.case()
            stdout, _ = run([os.path.join(RELEASE, "examples", "synthetic_case"), case, str(events)])
            written = int(stdout.split("=")[1])
            runs = [report(case) for _ in range(REPEATS)]
            seen = runs[0][2]["exchanges"]
            if seen != written:
                raise SystemExit(f"benchmark: {written} exchanges were written and {seen} diagnosed")
            seconds = statistics.median(run[0] for run in runs)
            memory = max(run[1] for run in runs)
            lines.append(f"| {events:,} | {seen:,} | {seconds:.2f} s | {aim:g} s | {memory / 1e6:.0f} MB |")
    return lines
