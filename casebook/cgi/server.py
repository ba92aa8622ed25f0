"""Serves a page over HTTP. Usage: server.py ADDRESS PORT process|worker SECONDS

With `process`, an interpreter is started for each request, as for a CGI script; with `worker`, the page is made by the
same code in the process that is there anyway. Ends by itself after SECONDS without a client.
"""

import http.server
import os
import pathlib
import subprocess
import sys
import urllib.parse

import page

SCRIPT = pathlib.Path(__file__).with_name("page.py")


def in_a_process(query):
    command = [sys.executable, str(SCRIPT)]
    environment = {**os.environ, "QUERY_STRING": query}
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout  # casebook: one for each


def in_this_process(query):
    return page.page(query).encode()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True
    make = staticmethod(in_this_process)

    def do_GET(self):
        body = type(self).make(urllib.parse.urlsplit(self.path).query)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


def main():
    address, port, how, seconds = sys.argv[1], int(sys.argv[2]), sys.argv[3], float(sys.argv[4])
    Handler.make = staticmethod(in_a_process if how == "process" else in_this_process)
    with http.server.HTTPServer((address, port), Handler) as server:
        server.timeout = seconds
        server.handle_timeout = lambda: sys.exit(0)
        while True:
            server.handle_request()


main()
