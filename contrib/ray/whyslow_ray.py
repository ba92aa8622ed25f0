"""Runs whyslow on the hosts of a Ray cluster, and puts together what they say.

    whyslow_ray.py logs CUBES FILES... [-- OPTIONS]
    whyslow_ray.py bisect --good git:A --bad git:B OPTIONS -- COMMAND     a piece of the history for each host
    whyslow_ray.py sweep --vary NAME=VALUES OPTIONS -- COMMAND            a piece of the values for each host
    whyslow_ray.py matrix --library NAME=VERSION,... OPTIONS -- COMMAND   the first version and one more for each host

logs: each host reads its own FILES ({node} is its number, from 0), its cube is kept as CUBES/host=NAME/day=DATE/
cube.parquet, and the answer is of all of them. The others: a piece is one run of whyslow; a host runs one at a time.
Prints what was found over all, and each piece's own document. Every host needs whyslow, the programs, and for bisect a
clone of the repository, in the folder that this is run in.

RAY_ADDRESS  the cluster (default: the one that runs here)      WHYSLOW  the binary (default: whyslow)
"""

import datetime
import itertools
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

WHYSLOW = os.environ.get("WHYSLOW", "whyslow")
CUBE = "cube.parquet"
FAILED = 2  # whyslow's exit status where it could not be asked; others are answers.


def run_here(folder, words, kept):
    """Runs whyslow on the host that this is called on: its status, its answer or its file, and what it said."""
    with tempfile.TemporaryDirectory() as place:
        split = words.index("--") if "--" in words else len(words)
        own = ["--cube", f"{place}/{kept}"] if kept else ["-o", f"{place}/case"]
        words = [WHYSLOW, *words[:split], "--json", *own, *words[split:]]
        done = subprocess.run(words, cwd=folder, capture_output=True)
        if not kept or done.returncode == FAILED:
            return done.returncode, done.stdout, done.stderr.decode()
        return done.returncode, pathlib.Path(place, kept).read_bytes(), done.stderr.decode()


def on_hosts(all_words, kept=""):
    """Runs whyslow with each list of words, on one host after another; a host is taken whole."""
    calls = []
    for words, node in zip(all_words, itertools.cycle(hosts())):
        here = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        remote = ray.remote(num_cpus=node["Resources"]["CPU"], scheduling_strategy=here)(run_here)
        calls.append(remote.remote(os.getcwd(), words, kept))
    return ray.get(calls)


def hosts():
    return sorted((node for node in ray.nodes() if node["Alive"]), key=lambda node: node["NodeID"])


def give_up(said):
    print(said, end="", file=sys.stderr)
    sys.exit(FAILED)


def logs(words):
    split = words.index("--") if "--" in words else len(words)
    (cubes, *files), options = words[:split], words[split + 1 :]
    of_node = lambda number: [file.replace("{node}", str(number)) for file in files]
    own = [["logs", *options, *of_node(number)] for number, _ in enumerate(hosts())]
    for (number, node), (status, content, said) in zip(enumerate(hosts()), on_hosts(own, CUBE)):
        if status == FAILED:
            give_up(said)
        folder = f"{cubes}/host={node['NodeManagerHostname']}-{number}/day={datetime.date.today()}"
        os.makedirs(folder, exist_ok=True)
        pathlib.Path(folder, CUBE).write_bytes(content)
    os.execvp(WHYSLOW, [WHYSLOW, "logs", "merge", "--json", cubes])


def replaced(words, option, value):
    return [value if before == option else word for before, word in zip(["", *words], words)]


def cut(places, pieces):
    """Pieces of a list, each beginning with what the one before ends with."""
    ends = [round(number * (len(places) - 1) / pieces) for number in range(pieces + 1)]
    return [places[begin : end + 1] for begin, end in zip(ends, ends[1:]) if end > begin]


def bisect(words, count):
    good, bad = (words[words.index(option) + 1].removeprefix("git:") for option in ("--good", "--bad"))
    words_of_git = ["git", "rev-list", "--first-parent", "--reverse", f"{good}..{bad}"]
    ends = cut([good, *subprocess.check_output(words_of_git, text=True).split()], count)
    borders = [ends[0][0], *(piece[-1] for piece in ends)]
    while True:
        pairs = list(zip(borders, borders[1:]))
        asked = [replaced(replaced(words, "--good", f"git:{one}"), "--bad", f"git:{other}") for one, other in pairs]
        answers = on_hosts(asked)
        failed = [number for number, answer in enumerate(answers) if answer[0] == FAILED]
        if not failed or len(pairs) == 1:
            return answers
        # A border that does not build: the pieces on both sides of it are one.
        del borders[min(failed[0] + 1, len(borders) - 2)]


def sweep(words, count):
    name, values = words[words.index("--vary") + 1].split("=", 1)
    if ".." in values:
        span, _, step = values.partition(":")
        least, most = (float(end) for end in span.split(".."))
        at = lambda part: least * (most / least) ** part if step == "log" else least + (most - least) * part
        between = [at(number / count) for number in range(count + 1)]
        ends = [f"{begin:.0f}..{end:.0f}" + (f":{step}" if step else "") for begin, end in zip(between, between[1:])]
    else:
        ends = [",".join(part) for part in cut(values.split(","), count)]
    return on_hosts([replaced(words, "--vary", f"{name}={part}") for part in ends])


def matrix(words, _):
    name, versions = words[words.index("--library") + 1].split("=", 1)
    first, *others = versions.split(",")
    return on_hosts([replaced(words, "--library", f"{name}={first},{other}") for other in others])


def together(pieces):
    """What was found in all pieces: lists one after another, the parts of stairs of the whole difference."""
    names = ("stairs", "cliffs", "points", "versions")
    found = {name: sum((piece[name] for piece in pieces if name in piece), []) for name in names}
    whole = sum(math.log(stair["times"]) for stair in found["stairs"])
    for stair in found["stairs"]:
        for part, times in (("part", "times"), ("part_low", "low"), ("part_high", "high")):
            stair[part] = math.log(stair[times]) / whole
    return {name: values for name, values in found.items() if values}


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ("logs", "bisect", "sweep", "matrix"):
        give_up(__doc__)
    ray.init(address=os.environ.get("RAY_ADDRESS", "auto"), log_to_driver=False)
    if sys.argv[1] == "logs":
        logs(sys.argv[2:])
    answers = globals()[sys.argv[1]](sys.argv[1:], len(hosts()))
    if failed := [said for status, _, said in answers if status == FAILED]:
        give_up(failed[0])
    pieces = [json.loads(answer) for _, answer, _ in answers]
    print(json.dumps({**together(pieces), "pieces": pieces}, indent=1))
    sys.exit(max((status for status, _, _ in answers), key=lambda status: (status == 1, status)))


if __name__ == "__main__":
    main()
