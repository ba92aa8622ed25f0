"""A cluster of two nodes on this machine: one run of whyslow and both nodes search the same history and name the same
commits; the same logs come down to the same counts.

Usage: WHYSLOW=target/release/whyslow python3 test.py    (needs root, git, gcc, and ray from the package registry)
"""

import json
import os
import subprocess
import sys
import tempfile
import time

import ray
from ray.cluster_utils import Cluster

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "whyslow_ray.py")
WHYSLOW = os.path.abspath(os.environ.get("WHYSLOW", "target/release/whyslow"))
COMMITS = 40
# What each of these makes of the time.
STEPS = {11: 1.6, 29: 1.7}
LINE = '192.0.2.{} - - [01/May/2024:{:02}:00:{:02} +0000] "GET /posts/{} HTTP/1.1" 200 {} "-" "{}"\n'


def git(*words):
    own = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run([*own, *words], check=True)


def make_history():
    git("init", "--quiet")
    turns = 60e6
    for number in range(-1, COMMITS):
        turns *= STEPS.get(number, 1)
        with open("main.c", "w") as file:
            file.write(f'static const char version[] = "{number}";\n')
            file.write("int main(void) { volatile unsigned long sum = version[0];\n")
            file.write(f"for (unsigned long turn = 0; turn < {turns:.0f}UL; turn++) sum += turn; return sum == 1; }}\n")
        git("add", "main.c")
        git("commit", "--quiet", "-m", f"Number {number}")


def make_logs():
    for node in range(2):
        with open(f"access-{node}.log", "w") as file:
            for number in range(20_000):
                agent = "HarvestBot/2.3 (+http://harvest.example/bot)" if number % 3 else "Mozilla/5.0 Firefox/125.0"
                file.write(LINE.format(number % 250 + node, number // 900, number % 60, number % 40, 900 + node, agent))


def answer(words):
    begin = time.monotonic()
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode in (0, 1, 3), done
    return json.loads(done.stdout), time.monotonic() - begin


def subjects(found):
    return [stair["commits"][-1].split(" ", 1)[1] for stair in found["stairs"]]


def test_bisect(on_ray):
    words = ["bisect", "--only-search", "--good", f"git:HEAD~{COMMITS}", "--bad", "git:HEAD"]
    command = ["--build", "cc -O1 -o program main.c", "--budget", "200s", "--", "./program"]
    alone, alone_s = answer([WHYSLOW, *words, "--json", "-o", "case", *command])
    both, both_s = answer([*on_ray, *words, *command])
    print(f"bisect: {subjects(alone)} in {alone_s:.0f} s alone, {subjects(both)} in {both_s:.0f} s on two nodes")
    planted = [f"Number {number}" for number in STEPS]
    assert subjects(alone) == subjects(both) == planted, (alone["stairs"], both["stairs"])


def test_logs(on_ray):
    alone, alone_s = answer([WHYSLOW, "logs", "--json", "access-0.log", "access-1.log"])
    both, both_s = answer([*on_ray, "logs", "cubes", "access-{node}.log"])
    print(f"logs: {alone['total']} in {alone_s:.1f} s alone, {both_s:.1f} s on two nodes")
    assert alone["total"] == both["total"], (alone["total"], both["total"])


def main():
    os.environ["WHYSLOW"] = WHYSLOW
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["XDG_STATE_HOME"] = os.environ["WHYSLOW_CACHE"] = f"{folder}/state"
        make_history()
        make_logs()
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
        try:
            cluster.add_node(num_cpus=1)
            cluster.wait_for_nodes()
            os.environ["RAY_ADDRESS"] = cluster.address
            for test in [test_bisect, test_logs]:
                if len(sys.argv) < 2 or test.__name__ in sys.argv[1:]:
                    test([sys.executable, SCRIPT])
        finally:
            ray.shutdown()
            cluster.shutdown()
            os.chdir("/")


main()
