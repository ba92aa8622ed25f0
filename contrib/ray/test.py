"""A cluster of two nodes on this machine: one run of whyslow and both nodes search the same history and name the same
commits, find the same cliff, and put the same versions of a library into the same order; the same logs come down to the same
counts.

Usage: WHYSLOW=target/release/whyslow python3 test.py [TEST ...]
(needs root, git, gcc, and ray from the package registry)
"""

import hashlib
import json
import os
import pathlib
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
# Above this value, a run takes so many seconds longer.
CLIFF, LONGER = 3000, 0.04
SIZES = "1..16384:log"
# What each version of a library makes of the time of the first; their crate is in a registry of the test's own.
VERSIONS = {"1.1": 1.0, "1.2": 1.5, "1.3": 3.0}
SOURCE = """name = 'tiny'
about = 'a library'
crate = 'tiny-sys'
folder = 'tiny'
libraries = ['lib/libtiny.so.1']
[[steps]]
name = 'build'
run = 'cc -shared -fPIC -O1 -Wl,-soname,libtiny.so.1 {source}/tiny.c -o libtiny.so.1'
[[steps]]
name = 'install'
run = 'mkdir -p {stage}{prefix}/lib && cp libtiny.so.1 {stage}{prefix}/lib/'
"""
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


def make_step():
    with open("step.c", "w") as file:
        file.write("#include <stdlib.h>\n#include <unistd.h>\nint main(int count, char **words) {\n")
        file.write(f"usleep(20000 + (atoi(words[1]) > {CLIFF} ? {LONGER * 1e6:.0f} : 0)); return 0; }}\n")
    subprocess.run(["cc", "-o", "step", "step.c"], check=True)


def library(turns):
    return f"void tiny(void) {{ for (volatile unsigned long turn = 0; turn < {turns:.0f}UL; turn++); }}\n"


def make_library():
    os.makedirs("registry/ti/ny")
    pathlib.Path("registry/config.json").write_text(json.dumps({"dl": f"file://{os.getcwd()}/registry/files"}))
    rows = []
    for number, (version, times) in enumerate(VERSIONS.items()):
        released = f"{number + 1}.0.0+{version}"
        crate = pathlib.Path("registry/files/tiny-sys", released, "download")
        crate.parent.mkdir(parents=True)
        os.makedirs(f"tiny-sys-{released}/tiny")
        pathlib.Path(f"tiny-sys-{released}/tiny/tiny.c").write_text(library(30e6 * times))
        subprocess.run(["tar", "-czf", crate, f"tiny-sys-{released}"], check=True)
        digest = hashlib.sha256(crate.read_bytes()).hexdigest()
        rows.append(json.dumps({"name": "tiny-sys", "vers": released, "cksum": digest, "yanked": False}))
    pathlib.Path("registry/ti/ny/tiny-sys").write_text("\n".join(rows) + "\n")
    pathlib.Path("tiny.toml").write_text(SOURCE)
    pathlib.Path("tiny.c").write_text(library(30e6))
    pathlib.Path("uses.c").write_text("void tiny(void); int main(void) { tiny(); return 0; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-Wl,-soname,libtiny.so.1", "-o", "libtiny.so.1", "tiny.c"], check=True)
    subprocess.run(["cc", "-o", "uses", "uses.c", "libtiny.so.1", f"-Wl,-rpath,{os.getcwd()}"], check=True)


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


def test_sweep(on_ray):
    words = ["sweep", "--vary", f"size={SIZES}", "--budget", "60s"]
    command = ["--", "./step", "{size}"]
    alone, alone_s = answer([WHYSLOW, *words, "--json", "-o", "sweep", *command])
    both, both_s = answer([*on_ray, *words, *command])
    found = [[(cliff["below"], cliff["above"]) for cliff in one["cliffs"]] for one in (alone, both)]
    print(f"sweep: {found[0]} in {alone_s:.0f} s alone, {found[1]} in {both_s:.0f} s on two nodes")
    for cliffs in found:
        assert len(cliffs) == 1 and cliffs[0][0] <= CLIFF <= cliffs[0][1], found


def ratios(found):
    """How much longer each version but the first takes than it."""
    measured = [one for one in found["versions"] if one["state"] == "measured"]
    assert len(measured) == len(found["versions"]), found["versions"]
    return {one["version"]: one["ratios"][0] for one in measured if one["ratios"]}


def test_matrix(on_ray):
    words = ["matrix", "--library", "tiny=" + ",".join(VERSIONS), "--source", "tiny.toml", "--budget", "40s"]
    command = ["--", "./uses"]
    alone, alone_s = answer([WHYSLOW, *words, "--json", "-o", "matrix", *command])
    both, both_s = answer([*on_ray, *words, *command])
    found = [ratios(one) for one in (alone, both)]
    shown = [", ".join(f"{version} {ratio['ratio']:.2f}" for version, ratio in one.items()) for one in found]
    print(f"matrix: {shown[0]} in {alone_s:.0f} s alone, {shown[1]} in {both_s:.0f} s on two nodes")
    for one in found:
        assert list(one) == list(VERSIONS)[1:], one
        for version, ratio in one.items():
            # Starting takes as long in each, so that their whole time differs by less than the library's.
            assert 1 < ratio["low"] and ratio["ratio"] <= VERSIONS[version], (version, ratio)
    assert all(one["1.2"]["high"] < one["1.3"]["low"] for one in found), found


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
        make_step()
        make_library()
        os.environ["WHYSLOW_CRATES_INDEX"] = f"file://{folder}/registry"
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
        try:
            cluster.add_node(num_cpus=1)
            cluster.wait_for_nodes()
            os.environ["RAY_ADDRESS"] = cluster.address
            for test in [test_bisect, test_sweep, test_matrix, test_logs]:
                if len(sys.argv) < 2 or test.__name__ in sys.argv[1:]:
                    test([sys.executable, SCRIPT])
        finally:
            ray.shutdown()
            cluster.shutdown()
            os.chdir("/")


main()
