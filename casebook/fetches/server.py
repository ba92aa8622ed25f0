"""Signs the lines of a list, each by itself.

Usage: server.py ADDRESS PORT each|copy
"""

import hmac
import http.server
import sys

KEY = b"k" * 32
LINES = [b"line %d" % number for number in range(600)]


class Signed(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    prepared = None

    def do_GET(self):
        content = b"".join(self.sign(line) for line in LINES)
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def sign(self, line):
        if self.prepared is None:
            return hmac.digest(KEY, line, "sha256")  # casebook: an algorithm by its name
        signature = self.prepared.copy()
        signature.update(line)
        return signature.digest()

    def log_message(self, *words):
        pass


def main():
    address, port, how = sys.argv[1:]
    if how == "copy":
        Signed.prepared = hmac.new(KEY, digestmod="sha256")
    http.server.ThreadingHTTPServer((address, int(port)), Signed).serve_forever()


main()
