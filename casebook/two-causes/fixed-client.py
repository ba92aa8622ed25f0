"""Asks for ten prices and places an order, again and again, over one connection.

Usage: fixed-client.py ADDRESS PORT ORDERS

The connection is opened by the program itself and then handed to http.client, which writes the head and the body of an
order separately. TCP_NODELAY is set, and that is the one line in which it differs from client.py.
"""

import http.client
import socket
import sys

ARTICLES = ("apples", "beans", "carrots", "dates", "eggs", "figs", "grapes", "honey", "kale", "leeks")
# What a session comes to where it is kept by the client; a head still fits into one segment.
HEAD = {"Cookie": "session=" + "c" * 1_200}


def ask(connection, article):
    connection.request("GET", f"/prices/{article}", headers=HEAD)
    return connection.getresponse().read()


def order(connection, number):
    connection.request("POST", "/orders", b"order %d" % number, HEAD)
    return connection.getresponse().read()


def main():
    address, port, orders = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    connection = http.client.HTTPConnection("casebook.test", port)
    connection.sock = socket.create_connection((address, port))
    connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # the cure
    for number in range(orders):
        answers = [ask(connection, article) for article in ARTICLES] + [order(connection, number)]
        if any(answer != b"done" for answer in answers):
            raise SystemExit("fixed-client.py: the server did not do it")
    connection.close()
    print(f"{orders} orders")


main()
