"""Uploads the same bytes again and again over one connection.

Usage: client.py ADDRESS PORT BYTES UPLOADS
"""

import http.client
import sys

address, port, size, uploads = sys.argv[1], *map(int, sys.argv[2:])
body = b"x" * size
connection = http.client.HTTPConnection(address, port)
for _ in range(uploads):
    connection.request("POST", "/", body)
    if int(connection.getresponse().read()) != size:
        raise SystemExit("client.py: the server did not get everything")
print(f"{uploads} uploads")
