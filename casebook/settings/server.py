"""Answers with one of 20,000 settings, which it parses for each request or once. Usage: server.py ADDRESS PORT FOLDER each|once"""

import functools
import http.server
import json
import pathlib
import sys

SETTINGS = 20_000
PATH = pathlib.Path(sys.argv[3], "settings.json")
PATH.write_text(json.dumps({f"route-{number}": {"to": number, "weight": number % 7} for number in range(SETTINGS)}))


def settings():
    with PATH.open() as file:
        return json.load(file)  # casebook: parsed for each request


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        body = f"{read()['route-7']}\n".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


read = {"each": settings, "once": functools.cache(settings)}[sys.argv[4]]
http.server.HTTPServer((sys.argv[1], int(sys.argv[2])), Handler).serve_forever()
