"""Long and ugly runs: what makes a recorder's memory grow, watched by whyslow, and whyslow watched meanwhile.

    benches/soak.py WHYSLOW SECONDS FOLDER

Each workload of soak.c is recorded for its share of the seconds. whyslow's resident memory is read once a second: it may not grow
by more than a fifth after the first minute (or the first fifth of the time, where that is shorter), nor reach a gigabyte, and
what was not kept has to be counted in the answer. Prints a line for each workload and a curve of 20 points; exits with 1 where
something of that does not hold.
"""

import json
import os
import subprocess
import sys
import time

WORKLOADS = ["fork", "threads", "connections", "churn"]
MOST_BYTES = 1 << 30
MOST_GROWTH = 1.2
# Rows that wait to be written, ten tables of them, and what allocators keep: not growth.
FREE_BYTES = 48 << 20


def resident(pid):
    """Resident memory in bytes; 0 where the process is gone."""
    try:
        with open(f"/proc/{pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def soak(whyslow, program, workload, seconds, folder):
    """Records one workload: the curve, and what its answer says."""
    case = os.path.join(folder, workload)
    words = [whyslow, "run", "--no-prove", "--json", "-o", case, "--", program, workload, str(seconds)]
    with open(case + ".json", "w") as out, open(case + ".log", "w") as log:
        process = subprocess.Popen(words, stdout=out, stderr=log)
        curve = []
        begun = time.monotonic()
        while process.poll() is None:
            curve.append((time.monotonic() - begun, resident(process.pid)))
            time.sleep(min(1, seconds / 60))
    with open(case + ".json") as file:
        text = file.read()
    answer = json.loads(text) if process.returncode in (0, 1, 3) else {}
    return curve, answer, process.returncode


def verdict(curve, answer, status, seconds):
    """What does not hold, in words."""
    wrong = []
    if not answer:
        return [f"whyslow ended with {status}"]
    settled = min(60, seconds / 5)
    # After the end of the program the case is written and diagnosed, which is another thing.
    recording = [(at, size) for at, size in curve if at < seconds]
    before = max((size for at, size in recording if at <= settled), default=0)
    after = max((size for at, size in recording if at > settled), default=0)
    if after > before * MOST_GROWTH + FREE_BYTES:
        wrong.append(f"grew from {before >> 20} to {after >> 20} MB after {settled:.0f} s")
    most = max((size for _, size in curve), default=0)
    if most >= MOST_BYTES:
        wrong.append(f"took {most >> 20} MB")
    return wrong


def main():
    whyslow, seconds, folder = os.path.abspath(sys.argv[1]), float(sys.argv[2]), os.path.abspath(sys.argv[3])
    os.makedirs(folder, exist_ok=True)
    program = os.path.join(folder, "soak")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "soak.c")
    subprocess.run(["cc", "-O2", "-pthread", "-o", program, source], check=True)
    failed = False
    share = seconds / len(WORKLOADS)
    for workload in WORKLOADS:
        curve, answer, status = soak(whyslow, program, workload, share, folder)
        wrong = verdict(curve, answer, status, share)
        points = curve[:: max(1, len(curve) // 20)]
        lost = answer.get("losses", {})
        most = max((size for _, size in curve), default=0) >> 20
        print(f"{workload}: at most {most} MB; lost, counted: {lost}; {'; '.join(wrong) or 'ok'}")
        print("    MB: " + " ".join(f"{size >> 20}" for _, size in points), flush=True)
        failed |= bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
