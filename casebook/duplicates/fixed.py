"""A server that sends lists of numbers, each number once.

Usage: fixed.py ADDRESS PORT SECONDS

A line asks for a list of so many numbers. Before they are sent, those that are there twice are left out; what was seen
already is kept in a set, which finds each number at once.
"""

import socket
import sys


def each_once(numbers):
    seen, kept = set(), []
    for number in numbers:
        if number not in seen:
            seen.add(number)
            kept.append(number)
    return kept


def serve(client):
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with client, client.makefile("rb") as lines:
        for line in lines:
            body = b"".join(b"%8d" % number for number in each_once(range(int(line))))
            client.sendall(b"%d\n" % len(body) + body)


def main():
    address, port, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    with socket.create_server((address, port)) as listener:
        listener.settimeout(seconds)
        while True:
            serve(listener.accept()[0])


main()
