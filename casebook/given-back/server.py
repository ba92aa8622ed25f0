"""Paints a picture of 42 MB for each request, and answers with one line of it. Usage: server.py ADDRESS PORT new|kept"""

import ctypes
import http.server
import sys

WIDTH, HEIGHT, BYTES = 4000, 3500, 3
GREY = 0x80


def new():
    return bytearray([GREY]) * (WIDTH * HEIGHT * BYTES)  # casebook: pixels, each time


KEPT = bytearray(WIDTH * HEIGHT * BYTES)


def kept():
    ctypes.memset((ctypes.c_char * len(KEPT)).from_buffer(KEPT), GREY, len(KEPT))
    return KEPT


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        line = bytes(paint()[: WIDTH * BYTES])
        self.send_response(200)
        self.send_header("Content-Length", str(len(line)))
        self.end_headers()
        self.wfile.write(line)


paint = {"new": new, "kept": kept}[sys.argv[3]]
http.server.HTTPServer((sys.argv[1], int(sys.argv[2])), Handler).serve_forever()
