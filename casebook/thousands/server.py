"""Sends back what it is sent, to as many as are connected. Usage: server.py ADDRESS PORT poll|epoll"""

import selectors
import socket
import sys


def main():
    address, port, how = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    selector = selectors.PollSelector() if how == "poll" else selectors.EpollSelector()
    listener = socket.create_server((address, port), backlog=1024)
    selector.register(listener, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():  # casebook: each connection is looked at
            if key.fileobj is listener:
                selector.register(listener.accept()[0], selectors.EVENT_READ)
            elif line := key.fileobj.recv(4096):
                key.fileobj.sendall(line)
            else:
                selector.unregister(key.fileobj)
                key.fileobj.close()


main()
