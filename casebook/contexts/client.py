"""Fetches one small page again and again: a TLS context for each request, or one for all.

Usage: client.py ADDRESS PORT REQUESTS each|one
"""

import http.client
import ssl
import sys


def fresh_context():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # casebook: a context for each request
    # The server's certificate is its own: nobody's is asked for, and no file of them is read.
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def fetch(address, port, context):
    connection = http.client.HTTPSConnection(address, port, context=context)
    connection.request("GET", "/hello")
    page = connection.getresponse().read()
    connection.close()
    return len(page)


def main():
    address, port, requests, how = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    context = fresh_context()
    size = 0
    for _ in range(requests):
        size += fetch(address, port, context)
        if how == "each":
            context = fresh_context()
    print(f"{requests} requests, {size} bytes")


main()
