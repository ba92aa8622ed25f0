"""Reads pages over several connections at a time; one request in ten is a login. Usage: client.py ADDRESS PORT REQUESTS

REQUESTS is that of each connection.
"""

import http.client
import sys
import threading

CONNECTIONS = 16


def visit(address, port, requests, first, failed):
    connection = http.client.HTTPConnection(address, port)
    for number in range(requests):
        path = "/login" if (first + number) % 10 == 0 else f"/page/{number}"
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        if answer.status != 200:
            failed.append(path)


def main():
    address, port, requests = sys.argv[1], *map(int, sys.argv[2:4])
    failed = []
    visits = [threading.Thread(target=visit, args=(address, port, requests, 3 * first, failed)) for first in range(CONNECTIONS)]
    for one in visits:
        one.start()
    for one in visits:
        one.join()
    print(f"{CONNECTIONS * requests} requests, {len(failed)} failed")


main()
