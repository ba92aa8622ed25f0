"""Hands out a list of revoked certificates, after a while, as somebody far away does.

Usage: crl.py ADDRESS PORT FILE MILLISECONDS
"""

import http.server
import sys
import time


class List(http.server.BaseHTTPRequestHandler):
    content, delay = b"", 0.0

    def do_GET(self):
        time.sleep(self.delay)
        self.send_response(200)
        self.send_header("Content-Type", "application/pkix-crl")
        self.send_header("Content-Length", str(len(self.content)))
        self.end_headers()
        self.wfile.write(self.content)

    def log_message(self, *words):
        pass


def main():
    address, port, file, milliseconds = sys.argv[1:]
    with open(file, "rb") as source:
        List.content = source.read()
    List.delay = float(milliseconds) / 1e3
    http.server.ThreadingHTTPServer((address, int(port)), List).serve_forever()


main()
