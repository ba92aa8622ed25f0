"""Asks from several processes at once, each over a connection of its own: client.py ADDRESS PORT CLIENTS REQUESTS."""

import http.client
import os
import sys

address, port, clients, requests = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
for _ in range(clients):
    if os.fork() == 0:
        connection = http.client.HTTPConnection(address, port)
        for _ in range(requests):
            connection.request("GET", "/")
            connection.getresponse().read()
        os._exit(0)
for _ in range(clients):
    os.wait()
