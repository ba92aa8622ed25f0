"""Asks for items by their number, and follows redirects. Usage: client.py ADDRESS PORT REQUESTS PREFIX [SUFFIX]"""

import http.client
import sys


def fetch(connection, path):
    while True:
        connection.request("GET", path)  # casebook: asks, and follows
        response = connection.getresponse()
        content = response.read()
        if response.status != 301:
            return content
        path = response.getheader("Location")


def main():
    address, port, requests, prefix = sys.argv[1:5]
    suffix = sys.argv[5] if len(sys.argv) > 5 else ""
    connection = http.client.HTTPConnection(address, int(port))
    for number in range(int(requests)):
        path = f"{prefix}{number}{suffix}"
        if fetch(connection, path).split()[1].rstrip(b"/") != path.rstrip("/").encode():
            raise SystemExit("client.py: this is another item")
    print(f"{requests} items")


main()
