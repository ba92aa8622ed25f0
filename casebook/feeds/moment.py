"""Was the upgrade seen in the rounds, and nothing else? Usage: moment.py STEPS.json ROUNDS.txt UPGRADED slow|alike"""

import json
import re
import sys

# A round's CPU time rises by up to a half when a machine does something else as well; since the upgrade, 3.6 to 6 times.
LARGE = 3


def main():
    with open(sys.argv[1]) as document:
        steps = json.load(document)["steps"]
    with open(sys.argv[2]) as lines:
        first = float(re.search(r"time=([0-9.]+)", lines.read())[1])
    upgraded = float(sys.argv[3]) - first
    large = [step for step in steps if step["ratio"] >= LARGE]
    hits = [step for step in large if step["low_s"] <= upgraded <= step["high_s"]]
    if (len(large), len(hits)) != ((1, 1) if sys.argv[4] == "slow" else (0, 0)):
        sys.exit(f"moment.py: upgraded after {upgraded:.1f} s, but rounds take more CPU time so: {large}")


main()
