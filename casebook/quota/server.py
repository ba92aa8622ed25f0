"""Says how many ways there are to pay a sum, one sum a line. Usage: server.py ADDRESS PORT SECONDS

One client at a time; ends by itself after SECONDS without one.
"""

import socket
import sys

COINS = (1, 2, 5, 10, 20, 50, 100, 200)


def ways(total):
    """How many ways there are to pay it: counted coin by coin."""
    counts = [1] + [0] * total
    for coin in COINS:
        for part in range(coin, total + 1):
            counts[part] += counts[part - coin]
    return counts[total]


def serve(client):
    while line := client.recv(256):
        client.sendall(b"%d ways\n" % ways(int(line)))


def main():
    address, port, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    with socket.create_server((address, port)) as listener:
        listener.settimeout(seconds)
        while True:
            try:
                client, _ = listener.accept()
            except TimeoutError:
                return
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with client:
                serve(client)


main()
