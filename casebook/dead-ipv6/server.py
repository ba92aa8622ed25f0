"""Answers HTTP at 127.0.0.1 and ::1. Usage: server.py PORT silent|open SECONDS

Silent, it drops all that comes over IPv6, as a firewall does. Ends by itself after SECONDS without a client.
"""

import ctypes
import select
import socket
import struct
import sys

SO_ATTACH_FILTER = 26  # asm-generic/socket.h
DROP = struct.pack("=HBBI", 0x06, 0, 0, 0)  # BPF_RET: keep 0 bytes of the packet


def listen(family, address, port):
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((address, port))
    return listener


def main():
    port, first, seconds = int(sys.argv[1]), sys.argv[2], float(sys.argv[3])
    six = listen(socket.AF_INET6, "::1", port)
    if first == "silent":
        code = ctypes.create_string_buffer(DROP, len(DROP))
        program = struct.pack("HxxxxxxP", 1, ctypes.addressof(code))
        six.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)
    listeners = [six, listen(socket.AF_INET, "127.0.0.1", port)]
    for listener in listeners:
        listener.listen(64)
    while ready := select.select(listeners, [], [], seconds)[0]:
        for listener in ready:
            client, _ = listener.accept()
            with client:
                client.recv(4096)
                client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nnoted\n")


main()
