"""Asks for a compressed catalogue again and again over one connection, and reads it.

Usage: client.py ADDRESS PORT PATH REQUESTS
"""

import gzip
import hashlib
import http.client
import sys


def main():
    address, port, path, requests = sys.argv[1:]
    connection = http.client.HTTPConnection(address, int(port))
    content = b""
    for _ in range(int(requests)):
        connection.request("GET", path, headers={"Accept-Encoding": "gzip"})
        content = connection.getresponse().read()
    text = gzip.decompress(content)
    print(f"{requests} catalogues, SHA-256 {hashlib.sha256(text).hexdigest()}")


main()
