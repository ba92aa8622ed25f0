"""Takes orders over HTTP/1.1, many clients at a time. Usage: server.py ADDRESS PORT SECONDS

Reads the whole body before it answers. Ends by itself after SECONDS.
"""

import socket
import sys
import threading
import time

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone"


def read_request(stream):
    """Whether there was another request."""
    length = 0
    if not stream.readline():
        return False
    while line := stream.readline().strip():
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return len(stream.read(length)) == length


def serve(client):
    with client, client.makefile("rb") as stream:
        try:
            while read_request(stream):
                client.sendall(ANSWER)
        except OSError:
            pass  # A client that is ended takes its connection with it.


def accept(listener):
    while True:
        client, _ = listener.accept()
        threading.Thread(target=serve, args=(client,), daemon=True).start()


def main():
    address, port, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    with socket.create_server((address, port)) as listener:
        threading.Thread(target=accept, args=(listener,), daemon=True).start()
        time.sleep(seconds)


main()
