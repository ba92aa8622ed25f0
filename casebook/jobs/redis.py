"""What a client of Redis needs to leave jobs and fetch results: its protocol's commands, one at a time."""

import socket


class Redis:
    """A connection to Redis."""

    def __init__(self, address, port):
        self.socket = socket.create_connection((address, int(port)))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.reader = self.socket.makefile("rb")

    def ask(self, *words):
        """Sends a command and returns its answer: a text, a number, a list, or None."""
        text = f"*{len(words)}\r\n" + "".join(f"${len(word)}\r\n{word}\r\n" for word in map(str, words))
        self.socket.sendall(text.encode())
        return self.answer()

    def answer(self):
        kind, rest = (line := self.reader.readline())[:1], line[1:].strip()
        if kind == b"$":
            length = int(rest)
            return None if length < 0 else self.reader.read(length + 2)[:-2].decode()
        if kind == b"*":
            return None if int(rest) < 0 else [self.answer() for _ in range(int(rest))]
        if kind == b":":
            return int(rest)
        if kind == b"+":
            return rest.decode()
        raise SystemExit(f"redis.py: {line!r}")
