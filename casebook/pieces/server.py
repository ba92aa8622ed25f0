"""Writes what each request asks for into a file, number by number. Usage: server.py ADDRESS PORT FOLDER unbuffered|buffered"""

import http.server
import pathlib
import sys

NUMBERS = 4_000
PATH = pathlib.Path(sys.argv[3], "report.csv")
BUFFERING = {"unbuffered": 0, "buffered": -1}[sys.argv[4]]


def report():
    with PATH.open("wb", BUFFERING) as file:
        for number in range(NUMBERS):
            file.write(b"%d,\n" % number)  # casebook: a call for each number


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        report()
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()


http.server.HTTPServer((sys.argv[1], int(sys.argv[2])), Handler).serve_forever()
