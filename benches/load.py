"""`whyslow load` beside other drivers of HTTP, against nginx: requests for each second of the driver's own CPU time, in
interleaved rounds; and the percentiles at a constant rate beside those of wrk2's method, against a server that stands still.

Drivers that are not installed are left out: wrk, h2load (nghttp2-client), oha, openssl.
"""

import csv
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

from ratio import ratio_of_medians, shown
from workshop import HERE, ROOT, WHYSLOW, Workshop, progress, wait_until_listening

ROUNDS = int(os.environ.get("ROUNDS", "7"))
SECONDS = int(os.environ.get("SECONDS", "4"))
CONNECTIONS = 32
# How long percentiles are measured, as a multiple of the server's period.
PERIODS = 10
PERIOD, STALL, RATE = 3.0, 0.3, 500
# Few: each has one request under way when the server stands still, and those are all that uncorrected times see.
OPEN = "4"
STALLING = os.path.join(ROOT, "crates", "whyslow", "tests", "load", "stalling.py")

NGINX = """daemon off; pid {folder}/pid; error_log {folder}/error; worker_processes 1; events {{ worker_connections 4096; }}
http {{ access_log off; keepalive_requests 1000000000; ssl_certificate {folder}/cert.pem;
ssl_certificate_key {folder}/key.pem; ssl_session_cache shared:sessions:8m; ssl_protocols TLSv1.3 TLSv1.2;
server {{ listen 127.0.0.1:{plain} backlog=4096; listen 127.0.0.1:{secured} ssl backlog=4096;
location / {{ return 200 "hello, this is an answer of some forty bytes"; }} }} }}
"""


class Server:
    """An nginx with one worker, plainly and over TLS."""

    def __init__(self, workshop):
        folder = self.folder = workshop.path("nginx")
        os.mkdir(folder)
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"]
            + ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
            + ["-addext", "basicConstraints=critical,CA:FALSE", "-keyout", f"{folder}/key.pem", "-out", f"{folder}/cert.pem"],
            check=True,
            stderr=subprocess.DEVNULL,
        )
        self.plain, self.secured = free_ports(2)
        with open(f"{folder}/nginx.conf", "w", encoding="utf-8") as settings:
            settings.write(NGINX.format(folder=folder, plain=self.plain, secured=self.secured))
        self.process = subprocess.Popen(
            ["nginx", "-p", folder, "-c", f"{folder}/nginx.conf"], stderr=subprocess.DEVNULL
        )
        wait_until_listening(self.plain)

    def end(self):
        self.process.terminate()
        self.process.wait()


def free_ports(count):
    import socket

    probes = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


def run(command):
    """What a driver printed, and the CPU time of it and its children in seconds."""
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read()
    if process.returncode not in (0, 1):
        raise SystemExit(f"benchmark: {' '.join(command)} failed with {process.returncode}:\n{text[-2000:]}")
    return text, usage.ru_utime + usage.ru_stime


def of(pattern):
    """Reads a driver's count of requests."""

    def read(text):
        found = re.findall(pattern, text, re.MULTILINE)
        if not found:
            raise SystemExit(f"benchmark: no count of requests in:\n{text[-2000:]}")
        return sum(int(count) for count in found)

    return read


def workloads(server):
    """Name, aim, and drivers: each a command and how its count is read. The first is ours."""
    plain, secured = f"http://127.0.0.1:{server.plain}/", f"https://localhost:{server.secured}/"
    seconds, connections = str(SECONDS), str(CONNECTIONS)
    ours = [WHYSLOW, "load", "--threads", "1", "--duration", f"{seconds}s", "--json"]
    trust = ["--cacert", f"{server.folder}/cert.pem"]
    answered = of(r'^  "answered": (\d+)')
    wrk = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s"]
    h2load = ["h2load", "--h1", "-t1", f"-c{connections}", f"-D{seconds}"]
    oha = ["oha", "--no-tui", "-z", f"{seconds}s"]
    oha_kept = [*oha, "-c", connections]
    of_wrk, of_h2load = of(r"^\s*(\d+) requests in"), of(r"(\d+) succeeded")
    of_oha = of(r"^\s*\[200\] (\d+) responses")
    s_time = ["openssl", "s_time", "-connect", f"localhost:{server.secured}", "-www", "/", "-time", seconds]
    of_s_time = of(r"^(\d+) connections in \d+ real seconds")
    one_each = ["-c", "1", "--requests-per-connection", "1"]
    kept = ["-c", connections]
    return [
        (
            "kept connections, plain",
            "0.9 of wrk, level with oha and h2load",
            [
                ("whyslow", ours + kept + [plain], answered),
                ("wrk", wrk + [plain], of_wrk),
                ("h2load", h2load + [plain], of_h2load),
                ("oha", oha_kept + [plain], of_oha),
            ],
        ),
        (
            "kept connections, TLS 1.3",
            "level with oha and h2load",
            [
                ("whyslow", ours + kept + trust + [secured], answered),
                ("wrk", wrk + [secured], of_wrk),
                ("h2load", h2load + [secured], of_h2load),
                ("oha", oha_kept + ["--insecure", secured], of_oha),
            ],
        ),
        (
            "a connection each, full TLS 1.3 handshakes",
            "level with s_time",
            [
                ("whyslow", ours + one_each + trust + ["--tls", "1.3", "--no-resumption", secured], answered),
                ("openssl s_time", s_time + ["-new", "-tls1_3"], of_s_time),
            ],
        ),
        (
            "a connection each, resumed TLS 1.2 handshakes",
            "level with s_time and oha",
            [
                ("whyslow", ours + one_each + trust + ["--tls", "1.2", secured], answered),
                ("openssl s_time", s_time + ["-reuse", "-tls1_2"], of_s_time),
                # It speaks TLS 1.2, and resumes.
                ("oha", oha + ["--disable-keepalive", "--insecure", "-c", "1", secured], of_oha),
            ],
        ),
    ]


def per_cpu_second(drivers):
    """Requests for each second of CPU time of each driver, one a round, in an order shuffled in each round."""
    seen = {name: [] for name, _, _ in drivers}
    # A fixed seed: the order is random, and the same in every run.
    shuffle = random.Random(3)
    for _ in range(ROUNDS):
        order = drivers[:]
        shuffle.shuffle(order)
        for name, command, count in order:
            text, seconds = run(command)
            seen[name].append(count(text) / seconds)
    return seen


def table(server):
    for name, aim, drivers in workloads(server):
        progress(f"load: {name}")
        drivers = [one for one in drivers if shutil.which(one[1][0])]
        seen = per_cpu_second(drivers)
        for driver, rates in seen.items():
            typical = sorted(rates)[len(rates) // 2]
            ratio = "-" if driver == "whyslow" else shown(ratio_of_medians(seen["whyslow"], rates))
            yield f"| {name} | {driver} | {typical:,.0f} | {ratio} | {aim if driver == 'whyslow' else ''} |"


def quantile(latencies, share):
    return sorted(latencies)[min(len(latencies) - 1, int(share * len(latencies)))]


def ours_at_rate(port, seconds):
    """Our latencies in milliseconds, from the intended start and from the actual one."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "histogram.csv")
        where = f"http://127.0.0.1:{port}/"
        run([WHYSLOW, "load", "--rate", str(RATE), "-c", OPEN, "--duration", f"{seconds}s", "--histogram", file, where])
        ways = {"latency": [], "uncorrected": []}
        with open(file, encoding="utf-8") as lines:
            for way, nanoseconds, count in csv.reader(line for line in lines if not line.startswith("#")):
                ways[way].extend([int(nanoseconds) / 1e6] * int(count))
        return ways["latency"], ways["uncorrected"]


def await_middle(began):
    time.sleep((PERIOD / 2 - (time.monotonic() - began)) % PERIOD)


def at_constant_rate():
    """Percentiles beside those of wrk2's method, and beside what the stalls themselves say."""
    seconds = PERIOD * PERIODS
    (port,) = free_ports(1)
    began = time.monotonic()
    server = subprocess.Popen([sys.executable, STALLING, str(port), str(PERIOD), str(STALL)])
    try:
        wait_until_listening(port)
        progress("load: percentiles at a constant rate")
        # Both see whole stalls: they begin between two.
        await_middle(began)
        ours, uncorrected = ours_at_rate(port, seconds)
        await_middle(began)
        text, _ = run([sys.executable, os.path.join(HERE, "wrk2.py"), str(port), OPEN, str(RATE), str(seconds)])
        others = [float(line) for line in text.split()]
    finally:
        server.terminate()
        server.wait()
    # A stall hits requests evenly: of those planned within it, the longest-waiting share waits from its beginning on.
    share_stalled = STALL / PERIOD
    for share in [0.92, 0.95, 0.98, 0.99, 0.995]:
        told = 1e3 * STALL * (1 - (1 - share) / share_stalled)
        measured = [quantile(one, share) for one in (ours, others, uncorrected)]
        yield (
            f"| p{100 * share:g} | {measured[0]:.1f} ms | {measured[1]:.1f} ms | {measured[0] / measured[1]:.3f} "
            f"| {told:.1f} ms | {measured[2]:.2f} ms |"
        )


def section():
    """The section of docs/benchmarks.md."""
    lines = [
        "## Driving a load",
        "",
        f"Requests for each second of the driver's own CPU time, against nginx with one worker; {ROUNDS} interleaved rounds of",
        f"{SECONDS} s, {CONNECTIONS} connections, one thread. Ratios are of medians, whyslow over the other.",
        "",
        "| workload | driver | requests per CPU second | whyslow over it | target |",
        "|---|---|---|---|---|",
    ]
    with Workshop() as workshop:
        server = Server(workshop)
        try:
            lines.extend(table(server))
        finally:
            server.end()
    lines += [
        "",
        f"A server that stands still for {STALL:g} s of every {PERIOD:g} s, at {RATE} requests a second over {OPEN} connections: latency",
        "from the intended start, beside wrk2's method (benches/wrk2.py) and what the stalls alone make of it.",
        "",
        "| percentile | whyslow | wrk2's method | ratio (target 0.95 to 1.05) | by the stalls | whyslow, uncorrected |",
        "|---|---|---|---|---|---|",
    ]
    lines.extend(at_constant_rate())
    return lines
