"""A page on connections that stay open. Usage: server.py ADDRESS PORT one|many

`one` is a single thread for all, as http.server has it; `many` starts a thread for each connection.
"""

import http.server
import sys

PAGE = b"hello\n"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one write

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *_):
        pass


def main():
    address, port, workers = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    kind = http.server.HTTPServer if workers == "one" else http.server.ThreadingHTTPServer
    kind.request_queue_size = 128
    kind((address, port), Handler).serve_forever()  # casebook: waits for the client that it serves


main()
