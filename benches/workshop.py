"""What the benchmarks share: where things are, compiled programs, a web server, and running something watched."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
RELEASE = os.path.join(os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target")), "release")
WHYSLOW = os.path.join(RELEASE, "whyslow")

# No single measurement takes more than a minute or two; strace over a ping-pong is the slowest.
LIMIT_SECONDS = 300


class Workshop:
    """A folder for all that a benchmark makes; it goes with it, and so does the web server."""

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="whyslow-bench.", dir=os.environ.get("TMPDIR", "/var/tmp"))
        self.server = None
        self.cases = 0
        return self

    def __exit__(self, *_):
        if self.server:
            self.server.terminate()
            self.server.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def compile(self, name):
        """Compiles benches/NAME.c and returns the program."""
        program = self.path(name)
        source = os.path.join(HERE, f"{name}.c")
        subprocess.run(["gcc", "-O2", "-Wall", "-Wextra", "-o", program, source], check=True)
        return program

    def serve(self):
        """Starts nginx with HTTPS on a free port; returns the port and the certificate."""
        certificate, key = self.path("certificate.pem"), self.path("key.pem")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
            + ["-days", "1", "-subj", "/CN=casebook.test", "-addext", "subjectAltName=DNS:casebook.test"]
            + ["-keyout", key, "-out", certificate],
            check=True,
            stderr=subprocess.DEVNULL,
        )
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        launcher = os.path.join(ROOT, "casebook", "serve-nginx.sh")
        template = os.path.join(ROOT, "casebook", "nginx.conf")
        self.server = subprocess.Popen([launcher, template, self.folder, "127.0.0.1", str(port), "tls"])
        wait_until_listening(port)
        return port, certificate

    def case(self):
        """The name of a case that is not there yet."""
        self.cases += 1
        return self.path(f"case-{self.cases}")


def wait_until_listening(port):
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise SystemExit(f"benchmark: nothing listens on port {port} after 5 s")


def measured(text):
    """The line that every measured program prints: (iterations, wall seconds, CPU seconds)."""
    found = re.search(r"measured iterations=(\d+) wall_seconds=([\d.]+) cpu_seconds=([\d.]+)", text)
    if not found:
        raise SystemExit(f"benchmark: the measured program printed no result:\n{text[-2000:]}")
    return int(found[1]), float(found[2]), float(found[3])


def run(command):
    """Runs a command to its end; returns what it printed, both streams."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"benchmark: {' '.join(command)} failed with {done.returncode}:\n{done.stderr[-2000:]}")
    return done.stdout, done.stderr


def answer_of(stdout):
    """The answer that `whyslow --json` printed."""
    return json.loads(stdout)


def rows_of(case):
    """Rows and losses of a case, as the example case_rows counts them."""
    stdout, _ = run([os.path.join(RELEASE, "examples", "case_rows"), case])
    pairs = (line.split("=") for line in stdout.splitlines())
    return {name: int(value) for name, value in pairs}


def progress(text):
    print(text, file=sys.stderr, flush=True)
