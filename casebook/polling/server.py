"""Takes orders, one a line, and leaves them to a worker; answers when it is done. Usage: server.py ADDRESS PORT SECONDS

The worker looks for orders every 20 ms. Ends by itself after SECONDS without a client.
"""

import socket
import sys
import threading
import time


class Worker(threading.Thread):
    """Does what is in its list."""

    def __init__(self):
        super().__init__(daemon=True)
        self.orders = []

    def run(self):
        while True:
            while self.orders:
                self.orders.pop(0).set()
            time.sleep(0.020)  # casebook: looks every now and then


def serve(client, worker):
    while client.recv(256):
        done = threading.Event()
        worker.orders.append(done)
        done.wait()
        client.sendall(b"noted\n")


def main():
    address, port, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    worker = Worker()
    worker.start()
    with socket.create_server((address, port)) as listener:
        listener.settimeout(seconds)
        while True:
            try:
                client, _ = listener.accept()
            except TimeoutError:
                return
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with client:
                serve(client, worker)


main()
