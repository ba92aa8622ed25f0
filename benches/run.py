"""Runs the benchmarks and writes docs/benchmarks.md. Usage: run.py [overhead|diagnosis|storm ...]

Without arguments all are run; with some, only those, and the result is printed and not written.
"""

import datetime
import os
import sys

import diagnosis
import machine
import overhead
import storm
from workshop import ROOT

SECTIONS = {"overhead": overhead.section, "diagnosis": diagnosis.section, "storm": storm.section}

HEAD = """# Benchmarks

Written by `make bench`; measured again by running it. Absolute figures belong to the machine, ratios less so.
"""


def main():
    chosen = sys.argv[1:] or list(SECTIONS)
    if os.geteuid() != 0:
        raise SystemExit("benchmark: recording needs root; run: sudo make bench")
    text = HEAD + f"\nOn {datetime.date.today()}: {machine.describe()}.\n"
    for name in chosen:
        text += "\n" + "\n".join(SECTIONS[name]()) + "\n"
    if not sys.argv[1:]:
        with open(os.path.join(ROOT, "docs", "benchmarks.md"), "w", encoding="utf-8") as page:
            page.write(text)
    print(text)
    # Aims are for people to judge; a limit that is passed is a defect.
    if "BROKEN" in text:
        raise SystemExit("benchmark: a limit was passed, see above")


main()
