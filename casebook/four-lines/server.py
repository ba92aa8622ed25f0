"""A gopher-like server on an event loop: one line in, a document out, and the connection is closed.

Usage: server.py ADDRESS PORT SECONDS

Every connection is a coroutine that yields when it has to wait; the loop resumes it when its socket is ready. Before a
socket is closed the server waits until the kernel has sent everything, as was once needed for a local socket: it asks
the kernel how much is still queued, and if anything is, waits for the socket to be writable. It is at once.
"""

import fcntl
import select
import socket
import struct
import sys
import termios
import time

DOCUMENT = b"i" * 20_000
MAX_REQUEST = 1024


class Connection:
    """One client: its socket, what is still to be written, and the coroutine that serves it."""

    def __init__(self, loop, client):
        self.loop = loop
        self.socket = client
        self.unsent = memoryview(b"")
        self.task = self.serve()

    def queued(self):
        """Bytes that the kernel has not got rid of yet."""
        return struct.unpack("i", fcntl.ioctl(self.socket, termios.TIOCOUTQ, b"\0\0\0\0"))[0]

    def serve(self):
        request = b""
        while not request.endswith(b"\n"):
            yield
            received = self.socket.recv(MAX_REQUEST - len(request))
            if not received:
                return self.loop.forget(self)
            request += received
        self.unsent = memoryview(DOCUMENT)
        self.loop.want(self, select.EPOLLOUT)
        while self.unsent:
            yield
        yield from self.close()

    def close(self):
        while self.queued() > 0 and self.queued() > 0:
            self.loop.want(self, select.EPOLLOUT)  # casebook: writable at once, and nothing to write
            yield
        self.loop.forget(self)


class Loop:
    """Waits for sockets and resumes their coroutines."""

    def __init__(self, address, port):
        self.epoll = select.epoll()
        self.connections = {}
        self.listener = socket.create_server((address, port), backlog=64)
        self.listener.setblocking(False)
        self.epoll.register(self.listener, select.EPOLLIN)

    def want(self, connection, events):
        self.epoll.modify(connection.socket, events)

    def forget(self, connection):
        descriptor = connection.socket.fileno()
        self.epoll.unregister(descriptor)
        del self.connections[descriptor]
        connection.socket.close()

    def accept(self):
        client, _ = self.listener.accept()
        client.setblocking(False)
        connection = Connection(self, client)
        self.connections[client.fileno()] = connection
        self.epoll.register(client, select.EPOLLIN)
        next(connection.task)

    def resume(self, connection, events):
        if events & select.EPOLLOUT:
            if connection.unsent:
                sent = connection.socket.send(connection.unsent)
                connection.unsent = connection.unsent[sent:]
            if not connection.unsent:
                self.want(connection, select.EPOLLIN)  # casebook: nothing to write, so read-ready again
        next(connection.task, None)

    def run(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for descriptor, events in self.epoll.poll(timeout=1):
                if descriptor == self.listener.fileno():
                    self.accept()
                else:
                    self.resume(self.connections[descriptor], events)


Loop(sys.argv[1], int(sys.argv[2])).run(float(sys.argv[3]))
