"""Answers with the newest of 30,000 messages in a spool, which it looks for among all or knows.

Usage: server.py ADDRESS PORT FOLDER look|know
"""

import http.server
import os
import pathlib
import sys

MESSAGES = 30_000
SPOOL = pathlib.Path(sys.argv[3], "spool")
SPOOL.mkdir()
for number in range(MESSAGES):
    (SPOOL / f"{number:08}").touch()
LAST = f"{MESSAGES - 1:08}"


def look():
    return max(os.listdir(SPOOL))  # casebook: all of the spool for each request


def know():
    return LAST if (SPOOL / LAST).exists() else look()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        body = f"{newest()}\n".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


newest = {"look": look, "know": know}[sys.argv[4]]
http.server.HTTPServer((sys.argv[1], int(sys.argv[2])), Handler).serve_forever()
