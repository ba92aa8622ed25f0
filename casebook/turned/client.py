"""Asks for prices over one connection, one after the other. Usage: client.py ADDRESS PORT REQUESTS"""

import socket
import sys

REQUEST = b"GET /price HTTP/1.1\r\nHost: prices\r\n\r\n"


def main(address, port, requests):
    with socket.create_connection((address, int(port))) as connection:
        answers = connection.makefile("rb")
        for _ in range(int(requests)):
            connection.sendall(REQUEST)
            length = 0
            while (line := answers.readline()) != b"\r\n":
                name, _, value = line.partition(b": ")
                length = int(value) if name == b"Content-Length" else length
            answers.read(length)


if __name__ == "__main__":
    main(*sys.argv[1:])
