"""Asks for three pages over each of some TLS connections, each of which `openssl s_client` makes.

Usage: client.py ADDRESS PORT AUTHORITY VISITS [OPTION...]
"""

import subprocess
import sys

REQUEST = b"GET /hello HTTP/1.1\r\nHost: casebook.test\r\n\r\n"
# The last word of the page.
END = b"casebook\n"


def visit(command):
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as client:
        for _ in range(3):
            client.stdin.write(REQUEST)
            client.stdin.flush()
            for line in client.stdout:
                if line.endswith(END):
                    break
        client.terminate()


def main():
    address, port, authority, visits, *options = sys.argv[1:]
    command = ["openssl", "s_client", "-quiet", "-connect", f"{address}:{port}", "-CAfile", authority, *options]
    for _ in range(int(visits)):
        visit(command)
    print(f"{visits} visits")


main()
