"""Hands out passwords over HTTP, twenty a request.

Usage: server.py ADDRESS PORT system|own
"""

import http.server
import random
import string
import sys

LETTERS = string.ascii_letters + string.digits


class Passwords(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    chance = None

    def do_GET(self):
        passwords = ["".join(self.letter() for _ in range(32)) for _ in range(20)]
        content = "\n".join(passwords).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def letter(self):
        return LETTERS[self.chance.getrandbits(16) % len(LETTERS)]  # casebook: a question for each letter

    def log_message(self, *words):
        pass


def main():
    address, port, source = sys.argv[1:]
    # One's own generator is seeded by the kernel once. (For passwords a cryptographic one would be needed.)
    Passwords.chance = random.SystemRandom() if source == "system" else random.Random()
    http.server.ThreadingHTTPServer((address, int(port)), Passwords).serve_forever()


main()
