"""Serves items; whoever leaves out the slash at the end is redirected. Usage: server.py ADDRESS PORT"""

import http.server
import sys


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self):
        if not self.path.endswith("/"):
            self.answer(301, b"", ("Location", self.path + "/"))
        else:
            self.answer(200, b"item " + self.path.encode() + b"\n")

    def answer(self, status, content, *headers):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), Handler).serve_forever()
