"""What being watched costs servers that are running: requests a second of saturated ones, latency of one at half load.

Each observer is attached to the running server, in interleaved rounds, while a client drives it. By default that takes four
minutes, which tells 10 %; more is asked for by the environment: ROUNDS=9 SERVER_SECONDS=6 OBSERVERS=all.
"""

import glob
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

from ratio import ratio_of_medians, shown
from workshop import WHYSLOW, Workshop, progress, run, wait_until_listening

ROUNDS = int(os.environ.get("ROUNDS", "3"))
SECONDS = float(os.environ.get("SERVER_SECONDS", "2"))

# A server is driven for this part of the time before it is measured: caches and branches are then as they stay.
WARM = 0.4

# The share of what it can bear that the server at half load gets.
HALF = 0.5

OBSERVERS = ["nothing", "whyslow attach", "tcpdump"]
if os.environ.get("OBSERVERS") == "all":
    OBSERVERS += ["whyslow attach --overhead 100", "perf trace"]

# One thread for each connection; each request reckons for about half a millisecond.
PYTHON_SERVER = """
import http.server, sys
class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        body = str(sum(number * number for number in range(4000))).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_):
        pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Answer).serve_forever()
"""

# The same work on an event loop.
NODE_SERVER = """
require("http").createServer((request, response) => {
    let sum = 0;
    for (let number = 0; number < 60000; number++) sum += number * number % 7;
    response.end(String(sum));
}).listen(Number(process.argv[1]), "127.0.0.1");
"""


class Redis:
    """redis-server and redis-benchmark: small requests of 20 connections on one thread."""

    name, aim = "redis, GET, 20 connections", 1.05
    measures = ["requests/s"]

    def __init__(self, workshop):
        self.port = free_port()
        options = ["--save", "", "--appendonly", "no", "--dir", workshop.folder, "--bind", "127.0.0.1"]
        self.process = start(["redis-server", "--port", str(self.port)] + options, self.port)

    def drive(self, seconds):
        command = ["redis-benchmark", "-p", str(self.port), "-t", "get", "-c", "20", "--csv"]
        # A count, not a time, is what it takes: so many that it lasts.
        stdout, _ = run(command + ["-n", str(int(seconds * 40_000))])
        return [float(stdout.strip().splitlines()[-1].split(",")[1].strip('"'))]


class Nginx:
    """nginx and wrk: an answer of some bytes on kept connections."""

    measures = ["requests/s"]

    def __init__(self, workshop, kind):
        self.name, self.aim = f"nginx, wrk, 20 connections, {kind}", 1.05
        scheme = "https" if kind == "TLS" else "http"
        if kind == "TLS":
            port, _ = workshop.serve()
            self.process = workshop.server
        else:
            port = free_port()
            self.process = start(self.plain(workshop, port), port)
        self.port = port
        self.url = f"{scheme}://127.0.0.1:{port}/"

    @staticmethod
    def plain(workshop, port):
        folder = workshop.path("nginx")
        os.mkdir(folder)
        kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        paths = " ".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
        text = (
            f"daemon off; worker_processes 1; user root; pid {folder}/pid; error_log {folder}/error.log;"
            f"events {{ worker_connections 512; }} http {{ access_log off; keepalive_requests 100000000; {paths}"
            f'server {{ listen 127.0.0.1:{port}; location / {{ return 200 "ok"; }} }} }}'
        )
        with open(os.path.join(folder, "nginx.conf"), "w", encoding="utf-8") as file:
            file.write(text)
        return ["nginx", "-e", f"{folder}/error.log", "-c", f"{folder}/nginx.conf"]

    def drive(self, seconds):
        # wrk takes whole seconds.
        stdout, _ = run(["wrk", "-t1", "-c20", f"-d{max(1, round(seconds))}s", self.url])
        return [float(re.search(r"Requests/sec:\s+([\d.]+)", stdout)[1])]


class HalfLoad:
    """A server at half of what it can bear: latency, counted from when a request was to be sent."""

    aim = 1.01
    measures = ["p50", "p99"]

    def __init__(self, runtime, command):
        self.name = f"{runtime}, half load"
        self.port = free_port()
        self.process = start(command + [str(self.port)], self.port)
        self.url = f"http://127.0.0.1:{self.port}/"
        # Compilers at run time have done their work by the second time.
        [_, most] = [self.load(SECONDS, [])["answered_per_second"] for _ in range(2)]
        self.rate = max(1, int(HALF * most))

    def load(self, seconds, options):
        length = ["--duration", f"{int(seconds * 1000)}ms", "--connections", "4"]
        stdout, _ = run([WHYSLOW, "load", "--json", self.url] + length + options)
        return json.loads(stdout)

    def drive(self, seconds):
        latency = self.load(seconds, ["--rate", str(self.rate)])["latency"]
        return [latency["p50_ns"], latency["p99_ns"]]


class PostgreSQL:
    """PostgreSQL and pgbench: queries by key of 4 connections, a process each; they are made while it is watched."""

    name, aim = "PostgreSQL, pgbench -S, 4 connections", 1.05
    measures = ["requests/s"]

    def __init__(self, workshop):
        self.port = free_port()
        data = workshop.path("data")
        os.mkdir(data)
        os.chmod(workshop.folder, 0o755)
        shutil.chown(data, "postgres", "postgres")
        programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
        of_postgres = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        run(of_postgres + [f"{programs}/initdb", "-D", data, "-A", "trust"])
        options = ["-D", data, "-h", "127.0.0.1", "-p", str(self.port), "-k", data]
        self.process = start(of_postgres + [f"{programs}/postgres"] + options, self.port)
        self.pgbench = ["pgbench", "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres", "-n"]
        run(self.pgbench + ["-i", "-q", "-s", "2", "postgres"])

    def drive(self, seconds):
        # pgbench takes whole seconds.
        stdout, _ = run(self.pgbench + ["-S", "-c", "4", "-T", str(max(1, round(seconds))), "postgres"])
        return [float(re.search(r"tps = ([\d.]+)", stdout)[1])]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(command, port):
    """Starts a server, and waits until it listens."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until_listening(port)
    return process


def observed(workshop, observer, server):
    """What the client measures while the server is watched, and the share of the time with rows."""
    if observer == "nothing":
        server.drive(WARM * SECONDS)
        return server.drive(SECONDS), None
    case = workshop.case()
    pid = str(server.process.pid)
    commands = {
        "tcpdump": ["tcpdump", "-i", "lo", "-s", "128", "-B", "16384", "-w", workshop.path("dump.pcap")]
        + ["tcp", "port", str(server.port)],
        "perf trace": ["perf", "trace", "-o", workshop.path("perf.out"), "-p", pid],
    }
    attach = [WHYSLOW, "attach", "--no-prove", "--json", "--duration", "1h", "-o", case, pid]
    command = commands.get(observer) or attach[:2] + observer.split()[2:] + attach[2:]
    with open(workshop.path("observer"), "w+", encoding="utf-8") as output:
        watcher = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL)
        # Attaching takes some tenths of a second, and the first window of a storm another: what they cost, once, is no part of
        # watching.
        time.sleep(0.8)
        try:
            server.drive(WARM * SECONDS)
            figures = server.drive(SECONDS)
        finally:
            watcher.send_signal(signal.SIGINT)
            watcher.wait(120)
        output.seek(0)
        text = output.read()
    if not observer.startswith("whyslow"):
        return figures, None
    shutil.rmtree(case, ignore_errors=True)
    whole = json.loads(text).get("whole_run")
    return figures, whole["rows_ns"] / whole["wall_ns"] if whole else 1.0


def table_of(workshop, server):
    """Rows of the Markdown table for one server."""
    seen = {observer: [] for observer in OBSERVERS}
    # A fixed seed: the order is random, and the same in every run.
    shuffle = random.Random(3)
    for _ in range(ROUNDS):
        order = OBSERVERS[:]
        shuffle.shuffle(order)
        for observer in order:
            seen[observer].append(observed(workshop, observer, server))
    for number, measure in enumerate(server.measures):
        more_is_better = measure == "requests/s"
        of = lambda observer: [figures[number] for figures, _ in seen[observer]]
        for observer in OBSERVERS:
            values = of(observer)
            typical = sorted(values)[len(values) // 2]
            pair = (of("nothing"), values) if more_is_better else (values, of("nothing"))
            covered = [share for _, share in seen[observer] if share is not None]
            rows = f"{100 * sum(covered) / len(covered):.0f} %" if covered else "-"
            figure = f"{typical:,.0f}" if more_is_better else f"{typical / 1e6:.2f} ms"
            goal = f"{server.aim}" if observer == "whyslow attach" else "-"
            yield f"| {server.name} | {measure} | {observer} | {figure} | {shown(ratio_of_medians(*pair))} | {goal} | {rows} |"


def section():
    """The section of docs/benchmarks.md."""
    lines = [
        "## Watching a running server",
        "",
        f"{ROUNDS} interleaved rounds of {SECONDS:g} s in shuffled order, each observer attached to a server that has been",
        "driven before. A ratio above 1 is worse: requests a second lost, or latency gained, with the 95 % interval of a bootstrap over rounds. `rows` is the share",
        "of the time with single events; totals cover all of it.",
        "",
        "| server | measure | observer | typical | ratio | target | rows |",
        "|---|---|---|---|---|---|---|",
    ]
    kinds = [
        Redis,
        lambda workshop: Nginx(workshop, "plain"),
        lambda workshop: Nginx(workshop, "TLS"),
        PostgreSQL,
        lambda _: HalfLoad("CPython", [sys.executable, "-c", PYTHON_SERVER]),
        lambda _: HalfLoad("Node", ["node", "-e", NODE_SERVER]),
    ]
    for kind in kinds:
        with Workshop() as workshop:
            server = kind(workshop)
            progress(f"servers: {server.name}")
            try:
                lines.extend(table_of(workshop, server))
            finally:
                server.process.terminate()
                server.process.wait()
    return lines
