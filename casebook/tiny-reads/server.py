"""Answers every line with 4,096 bytes, in one write. Usage: server.py ADDRESS PORT SECONDS

One client at a time; ends by itself after SECONDS without one.
"""

import socket
import sys

REPLY = b"r" * 4095 + b"\n"

with socket.create_server((sys.argv[1], int(sys.argv[2]))) as listener:
    listener.settimeout(float(sys.argv[3]))
    try:
        while True:
            client, _ = listener.accept()
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with client:
                while client.recv(256):
                    client.sendall(REPLY)
    except TimeoutError:
        pass
