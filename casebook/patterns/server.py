"""Looks for words in each line and answers "noted". Usage: server.py ADDRESS PORT by-text|kept"""

import re
import socketserver
import sys

WORDS = [rf"\b(un)?wanted{number}(s|ed)?\b" for number in range(700)]
KEPT = [re.compile(word) for word in WORDS]


def matches_by_text(line):
    return any(re.search(word, line) for word in WORDS)  # casebook: a pattern each time


def matches_kept(line):
    return any(pattern.search(line) for pattern in KEPT)


class Handler(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        for line in self.rfile:
            self.wfile.write(b"dropped\n" if matches(line.decode()) else b"noted\n")


matches = matches_by_text if sys.argv[3] == "by-text" else matches_kept
socketserver.ThreadingTCPServer.allow_reuse_address = True
socketserver.ThreadingTCPServer((sys.argv[1], int(sys.argv[2])), Handler).serve_forever()
