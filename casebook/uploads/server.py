"""Takes notes over HTTP, in one thread. Usage: server.py ADDRESS PORT once|all|portions

An event is reported once (EPOLLET). `once` reads one time then, at most 4,096 bytes; what is left is found when
nothing comes for 50 ms and all are looked at. `all` reads until there is no more. `portions` lets a connection have 2,048 bytes
every 20 ms, on purpose.
"""

import select
import socket
import sys

READ, PORTION = 4096, 2048
ANSWER = b"HTTP/1.1 204 No Content\r\n\r\n"


class Note:
    """What has come of a note."""

    def __init__(self, connection):
        self.connection, self.come = connection, b""

    def take(self, piece):
        self.come += piece
        head, end, body = self.come.partition(b"\r\n\r\n")
        if end and len(body) == int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]):
            self.come = b""
            self.connection.sendall(ANSWER)


def read(connection, length):
    """The next bytes; none where nothing has come, and an empty piece at the end."""
    try:
        return connection.recv(length)
    except BlockingIOError:
        return None


def serve(note, way):
    """Whether the connection is still there."""
    piece = read(note.connection, PORTION if way == "portions" else READ)
    while piece:
        note.take(piece)
        if way != "all":
            return True
        piece = read(note.connection, READ)
    return piece is None


def main():
    address, port, way = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    listener, waiting, notes = socket.create_server((address, port)), select.epoll(), {}
    waiting.register(listener, select.EPOLLIN)
    while True:
        come = waiting.poll(0.02 if way == "portions" else 0.05)  # casebook: waits for an event
        for descriptor in [descriptor for descriptor, _ in come] or list(notes):
            if descriptor == listener.fileno():
                connection, _ = listener.accept()
                connection.setblocking(False)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                notes[connection.fileno()] = Note(connection)
                waiting.register(connection, select.EPOLLIN | select.EPOLLET)
            elif not serve(notes[descriptor], way):
                notes.pop(descriptor).connection.close()


main()
