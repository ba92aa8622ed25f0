"""Computes something for each request. Usage: server.py ADDRESS PORT"""

import http.server
import sys


def compute(number):
    return sum(number * other % 7 for other in range(50_000))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body leave together

    def do_GET(self):
        answer = str(compute(int(self.path[1:]))).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def main():
    http.server.HTTPServer((sys.argv[1], int(sys.argv[2])), Handler).serve_forever()


main()
