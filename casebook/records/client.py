"""Asks for a report again and again over one HTTPS connection.

Usage: client.py ADDRESS PORT CERTIFICATE REQUESTS
"""

import http.client
import ssl
import sys


def main():
    address, port, certificate, requests = sys.argv[1:]
    context = ssl.create_default_context(cafile=certificate)
    context.check_hostname = False
    connection = http.client.HTTPSConnection(address, int(port), context=context)
    size = 0
    for _ in range(int(requests)):
        connection.request("GET", "/report")
        size += len(connection.getresponse().read())
    print(f"{requests} reports, {size} bytes")


main()
