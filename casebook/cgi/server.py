"""Answers with prices. Usage: server.py ADDRESS PORT script|module

`script` runs price.py for each request; `module` calls it.
"""

import http.server
import pathlib
import subprocess
import sys

import price

SCRIPT = str(pathlib.Path(__file__).with_name("price.py"))


def run(cents):
    words = [sys.executable, "-B", SCRIPT, cents]
    return subprocess.run(words, capture_output=True, check=True).stdout  # casebook: a process for each request


def call(cents):
    return price.price(cents).encode() + b"\n"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        answer = WORK(self.path.removeprefix("/"))
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


WORK = run if sys.argv[3] == "script" else call
http.server.ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), Handler).serve_forever()
