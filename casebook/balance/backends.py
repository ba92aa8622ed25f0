"""Three servers of one worker each, on Unix sockets: STATE/backend1.sock to STATE/backend3.sock.

Usage: backends.py STATE SECONDS

A request says how long it takes: GET /4.0 is answered after 4 ms. That time is waited, as for a disk or another service:
three servers that compute would need a machine with more processors than two. Ends by itself after SECONDS.
"""

import os
import socket
import sys
import threading
import time

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\ndone\n"


def answer(client):
    request = b""
    while b"\r\n\r\n" not in request:
        part = client.recv(4096)
        if not part:
            return
        request += part
    path = request.split(b" ", 2)[1]
    time.sleep(float(path[1:]) / 1e3)  # casebook: the worker is busy
    client.sendall(ANSWER)


def serve(listener):
    while True:
        client, _ = listener.accept()
        with client:
            try:
                answer(client)
            except (OSError, ValueError, IndexError) as error:
                print(f"backends.py: {error}", file=sys.stderr)


def main():
    state, seconds = sys.argv[1], float(sys.argv[2])
    for number in 1, 2, 3:
        listener = socket.socket(socket.AF_UNIX)
        path = f"{state}/backend{number}.sock"
        if os.path.exists(path):
            os.unlink(path)
        listener.bind(path)
        # haproxy may connect to a backend that is busy: its requests stand in line here.
        listener.listen(1024)
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
    time.sleep(seconds)


main()
