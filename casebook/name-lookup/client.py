"""Greets one host after another, by name. Usage: client.py HOSTS"""

import socket
import sys


def main():
    hosts = int(sys.argv[1])
    for number in range(hosts):
        connection = socket.create_connection((f"host{number}.casebook.test", 80))  # casebook: the look-up
        connection.sendall(b"hello\n")
        connection.recv(256)
        connection.close()
    print(f"{hosts} hosts")


main()
