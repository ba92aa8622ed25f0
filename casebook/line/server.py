"""Answers with what a slow service says. Usage: server.py ADDRESS PORT one|many [SECONDS]

SECONDS is how long the service takes (default: 0.02). `one` is a single thread for all, as http.server
has it; `many` starts a thread for each connection.
"""

import http.server
import sys
import time

SECONDS = float(sys.argv[4]) if len(sys.argv) > 4 else 0.02


def ask_the_service():
    time.sleep(SECONDS)  # casebook: a slow service
    return b"noted\n"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        answer = ask_the_service()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def main():
    address, port, workers = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    kind = http.server.HTTPServer if workers == "one" else http.server.ThreadingHTTPServer
    kind.request_queue_size = 128
    kind((address, port), Handler).serve_forever()


main()
