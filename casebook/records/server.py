"""Answers over HTTPS with a report of many lines, each of which it writes by itself.

Usage: server.py ADDRESS PORT CERTIFICATE KEY lines|buffer
"""

import http.server
import ssl
import sys

LINES = [b"%03d;%s\n" % (number, b"x" * 35) for number in range(300)]


class Report(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(sum(map(len, LINES))))
        self.end_headers()
        for line in LINES:
            self.wfile.write(line)  # casebook: a record for each line

    def log_message(self, *words):
        pass


class Buffered(Report):
    wbufsize = -1  # a buffer of the usual size, which is flushed after each request


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address, handler, context):
        super().__init__(address, handler)
        self.context = context

    def finish_request(self, request, client):
        with self.context.wrap_socket(request, server_side=True) as encrypted:
            super().finish_request(encrypted, client)

    def handle_error(self, request, client):
        pass


def main():
    address, port, certificate, key, how = sys.argv[1:]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    Server((address, int(port)), Report if how == "lines" else Buffered, context).serve_forever()


main()
