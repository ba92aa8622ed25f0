"""Serves a number that takes a while to compute: server.py ADDRESS PORT threads|processes."""

import socketserver
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

ROWS = [number * 7919 % 1009 for number in range(300_000)]


def render(rows):
    total = 0
    for row in rows: total += row * row % 7  # casebook: here all of them compute
    return total


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 65536

    def do_GET(self):
        body = str(render(ROWS)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Threads(socketserver.ThreadingMixIn, HTTPServer):
    request_queue_size = 128
    daemon_threads = True


class Processes(socketserver.ForkingMixIn, HTTPServer):
    request_queue_size = 128


address, port, workers = sys.argv[1:]
{"threads": Threads, "processes": Processes}[workers]((address, int(port)), Handler).serve_forever()
