"""How much slower a program gets when it is watched: by whyslow, strace, perf trace and tcpdump, in interleaved rounds."""

import os
import random
import shutil
import signal
import subprocess
import sys

from ratio import ratio_of_medians, shown
from workshop import HERE, WHYSLOW, Workshop, answer_of, measured, progress, rows_of, run

ROUNDS = int(os.environ.get("ROUNDS", "7"))
PING_PONG_SECONDS = "2"
REQUESTS = "2000"

# How each is called, and the options that whyslow gets: all rows, and those that an overhead of 2 % leaves, as in `attach`.
WATCHING = {"whyslow": [], "whyslow --overhead 2": ["--overhead", "2"]}
OBSERVERS = ["nothing", *WATCHING, "strace -f", "perf trace", "tcpdump"]


def workloads(workshop):
    """Name, command, and the ratios aimed at: with everything on, and within an overhead."""
    ping_pong = workshop.compile("ping-pong")
    port, certificate = workshop.serve()
    client = [sys.executable, os.path.join(HERE, "https-client.py")]
    where = ["127.0.0.1", str(port), certificate, REQUESTS]
    return [
        ("ping-pong, one thread", [ping_pong, "one", PING_PONG_SECONDS], [1.25, 1.10]),
        ("ping-pong, two processes", [ping_pong, "two", PING_PONG_SECONDS], []),
        ("2,000 HTTPS requests, kept connection", client + ["kept"] + where, [1.03]),
        ("2,000 HTTPS requests, fresh connections", client + ["fresh"] + where, [1.03]),
    ]


class Observation:
    """One run of a workload under one observer."""

    def __init__(self, workshop, observer, command):
        self.lost = self.recorded = 0
        if observer in WATCHING:
            stdout, stderr = self.whyslow(workshop, command, WATCHING[observer])
        else:
            stdout, stderr = getattr(self, observer.split()[0])(workshop, command)
        self.iterations, wall, cpu = measured(stdout + stderr)
        self.wall = wall / self.iterations
        self.cpu = cpu / self.iterations

    def nothing(self, _, command):
        return run(command)

    def whyslow(self, workshop, command, options):
        case = workshop.case()
        stdout, stderr = run([WHYSLOW, "run", "--no-prove", "--json", *options, "-o", case, "--"] + command)
        self.lost = answer_of(stdout)["losses"]["events"]
        self.recorded = sum(count for name, count in rows_of(case).items() if "." not in name)
        shutil.rmtree(case)
        return "", stderr

    def strace(self, workshop, command):
        return run(["strace", "-f", "-o", workshop.path("strace.out")] + command)

    def perf(self, workshop, command):
        return run(["perf", "trace", "-o", workshop.path("perf.out"), "--"] + command)

    def tcpdump(self, workshop, command):
        dump = ["tcpdump", "-i", "lo", "-s", "128", "-B", "16384", "-w", workshop.path("dump.pcap"), "tcp"]
        with subprocess.Popen(dump, stderr=subprocess.PIPE, text=True) as capture:
            try:
                # Its first line says that it listens.
                capture.stderr.readline()
                return run(command)
            finally:
                capture.send_signal(signal.SIGINT)
                capture.communicate()


def measure_workload(workshop, command):
    """Observations of each observer, one a round, in an order shuffled in each round."""
    seen = {observer: [] for observer in OBSERVERS}
    # A fixed seed: the order is random, and the same in every run.
    shuffle = random.Random(2)
    for _ in range(ROUNDS):
        order = OBSERVERS[:]
        shuffle.shuffle(order)
        for observer in order:
            seen[observer].append(Observation(workshop, observer, command))
    return seen


def table_of(name, seen, aims):
    """Rows of the Markdown table for one workload."""
    base, aims = seen["nothing"], dict(zip(WATCHING, aims))
    for observer in OBSERVERS:
        runs = seen[observer]
        wall = ratio_of_medians([run.wall for run in runs], [run.wall for run in base])
        cpu = ratio_of_medians([run.cpu for run in runs], [run.cpu for run in base])
        typical = sorted(run.wall for run in runs)[len(runs) // 2]
        lost = recorded = "-"
        if observer in WATCHING:
            lost = f"{sum(run.lost for run in runs):,}"
            recorded = f"{sum(run.recorded for run in runs):,}"
        goal = aims.get(observer, "-")
        yield f"| {name} | {observer} | {1e6 * typical:.3g} us | {shown(wall)} | {shown(cpu)} | {goal} | {recorded} | {lost} |"


def section():
    """The section of docs/benchmarks.md."""
    lines = [
        "## Overhead of recording",
        "",
        f"{ROUNDS} interleaved rounds in shuffled order. Ratios are of medians against `nothing`, with the 95 %",
        "interval of a bootstrap over rounds; CPU is that of the measured process. whyslow records everything it can,",
        "and with `--overhead 2` what that leaves, as `attach` does.",
        "",
        "| workload | observer | wall time per iteration | wall, ratio | CPU, ratio | target | events | lost |",
        "|---|---|---|---|---|---|---|---|",
    ]
    with Workshop() as workshop:
        for name, command, aims in workloads(workshop):
            progress(f"overhead: {name}")
            lines.extend(table_of(name, measure_workload(workshop, command), aims))
    return lines
