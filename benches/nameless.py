"""How much of the recorded time is booked to accounts that name nobody, over answers of many programs.

Usage: nameless.py FOLDER|FILE...

A file is what `--json` printed; of a folder, every answer.json below it is read, as `make stories` leaves them in
target/stories and `make healthy` in target/healthy. Prints a table, the worst first, then median and worst; fails where
these are above the aims. What is unexplained stands beside it: that is for want of rows, as where events were lost.
"""

import json
import os
import statistics
import sys

# Shares of the time, in the median and in the worst answer.
MOST_IN_MEDIAN, MOST_IN_WORST = 0.03, 0.15


def names_nobody(account):
    """Whether an account says neither who was waited for nor for what."""
    if account.get("part"):
        return names_nobody(account["part"])
    kind = account["kind"]
    if kind in ("blocked", "blocked-outside"):
        # A sleep is for a time, and a child is a child: both are named by the call alone.
        return account["object"] is None and account["wait"] in ("events", "lock", "object")
    return kind in ("blocked-elsewhere", "blocked-elsewhere-outside", "other")


def nameless(answer):
    """The share of the ledger's time in such accounts, and the largest of them with its own share."""
    ledger = answer["ledger"]
    total = max(ledger["total"], 1)
    found = [(one["ns"] / total, one["name"]) for one in ledger["accounts"] if names_nobody(one["account"])]
    return sum(share for share, _ in found), max(found, default=(0.0, ""))


def documents(words):
    """The names and texts of the answers below some folders, or in some files."""
    for word in words:
        if not os.path.isdir(word):
            yield os.path.basename(word).removesuffix(".json"), word
            continue
        for folder, folders, files in os.walk(word):
            folders.sort()
            if "answer.json" in files:
                yield os.path.relpath(folder, word), os.path.join(folder, "answer.json")


def main(words):
    if not words:
        raise SystemExit(__doc__)
    rows = []
    for name, path in documents(words):
        with open(path, encoding="utf-8") as file:
            answer = json.load(file)
        if "ledger" in answer:
            ledger = answer["ledger"]
            rows.append((name, *nameless(answer), ledger["unexplained"] / max(ledger["total"], 1)))
    if not rows:
        raise SystemExit(f"nameless.py: no answer with a ledger in {' '.join(words)}")
    rows.sort(key=lambda row: -row[1])
    print("| answer | names nobody | most of it | unexplained |\n|---|---|---|---|")
    for name, share, (most, account), unexplained in rows:
        print(f"| {name} | {share:.2%} | {account + f', {most:.2%}' if account else '-'} | {unexplained:.2%} |")
    median, worst = statistics.median(row[1] for row in rows), rows[0][1]
    print(f"\n{len(rows)} answers: {median:.2%} in the median, {worst:.2%} in the worst ({rows[0][0]}).")
    return median <= MOST_IN_MEDIAN and worst <= MOST_IN_WORST


if __name__ == "__main__":
    sys.exit(0 if main(sys.argv[1:]) else 1)
