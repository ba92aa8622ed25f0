"""Reads a page again and again over one connection, and digests it. Usage: client.py ADDRESS PORT REQUESTS"""

import hashlib
import http.client
import ssl
import sys

address, port, requests = sys.argv[1], *map(int, sys.argv[2:])
context = ssl._create_unverified_context()
connection = http.client.HTTPSConnection(address, port, context=context)
digest = hashlib.sha256()
for _ in range(requests):
    connection.request("GET", "/hello")
    digest.update(connection.getresponse().read() * 20_000)
print(digest.hexdigest())
