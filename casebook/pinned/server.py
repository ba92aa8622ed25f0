"""Signs what it is sent, in several processes. Usage: server.py ADDRESS PORT PROCESSES"""

import hashlib
import os
import socket
import sys

ROUNDS = 12_000


def serve(listener):
    while True:
        connection, _ = listener.accept()
        while line := connection.recv(4096):
            connection.sendall(hashlib.pbkdf2_hmac("sha256", line, b"casebook", ROUNDS))


def main():
    listener = socket.create_server((sys.argv[1], int(sys.argv[2])))
    for _ in range(int(sys.argv[3]) - 1):
        if os.fork() == 0:
            break
    serve(listener)


main()
