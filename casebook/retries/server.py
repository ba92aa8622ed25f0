"""Answers with reports. The first time a report is asked for it takes a while to make. Usage: server.py ADDRESS PORT"""

import http.server
import sys
import time

reports = {}


def make_report(name):
    time.sleep(0.25)  # a slow database
    reports[name] = f"report of {name}\n".encode()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path not in reports:
            make_report(self.path)
        answer = reports[self.path]
        try:
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)
        except OSError:
            self.close_connection = True

    def log_message(self, *_):
        pass


def main():
    http.server.ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), Handler).serve_forever()


main()
