"""Reads a page again and again. Usage: client.py ADDRESS PORT REQUESTS [until-nothing-comes]"""

import http.client
import socket
import sys


def until_nothing_comes(address, port, requests):
    """Does not look at what the answer says of its length: reads until nothing has come for a while."""
    with socket.create_connection((address, port), timeout=0.1) as connection:
        for _ in range(requests):
            connection.sendall(b"GET / HTTP/1.1\r\nHost: casebook.test\r\n\r\n")
            answer = b""
            try:
                while piece := connection.recv(4096):  # casebook: for a while
                    answer += piece
            except TimeoutError:
                pass
            if not answer.endswith(b"\r\n\r\n" + b"one line\n" * 20):
                raise SystemExit("client.py: this is another page")
    print(f"{requests} pages")


def main():
    address, port, requests = sys.argv[1], *map(int, sys.argv[2:4])
    if sys.argv[4:] == ["until-nothing-comes"]:
        until_nothing_comes(address, port, requests)
        return
    connection = http.client.HTTPConnection(address, port)
    for _ in range(requests):
        connection.request("GET", "/")
        content = connection.getresponse().read()  # casebook: all of it
        if content != b"one line\n" * 20:
            raise SystemExit("client.py: this is another page")
    print(f"{requests} pages")


main()
