"""The same server, which says when an answer is complete. Usage: fixed.py ADDRESS PORT FOLDER"""

import socket

from server import main


def pull(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 0)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)


main(pull)
