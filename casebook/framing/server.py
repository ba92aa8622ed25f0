"""Answers in HTTP/1.1, with or without saying how long the answer is. Usage: server.py ADDRESS PORT silent|length"""

import http.server
import sys


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 0.2  # connections that are idle for longer are closed
    wbufsize = -1  # head and body leave together

    def do_GET(self):
        answer = b"one line\n" * 20
        self.send_response(200)
        if sys.argv[3] == "length":
            self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def main():
    http.server.ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), Handler).serve_forever()


main()
