"""A client that writes requests in pieces over TLS, and a server that counts the records they came in.

Usage: records.py server FOLDER
       records.py client PORT FOLDER REQUESTS HOW

The server prints its port, and when the client has gone the records and the bytes of its requests, and whether they were
what the client meant to send. HOW the client writes: `lines` of 40 bytes, `mixed` with large ones between, `threads` that hand
a connection over, `leave` without waiting for an answer. The server then gives none: unread, one would reset the connection
and lose what is on its way.
"""

import socket
import ssl
import sys
import threading

LINES = 50
APPLICATION_DATA = 23


def request(number, how):
    """The pieces of one request; the last one ends it."""
    pieces = [b"%06d %02d %s\n" % (number, line, b"." * 29) for line in range(LINES)]
    if how == "mixed":
        pieces[20] = b"+" * 20000 + b"\n"
        pieces[30] = b"-" * 3000 + b"\n"
    return [*pieces, b"bye\n" if how == "leave" else b"end\n"]


class Records:
    """Counts the records of application data in a stream of bytes."""

    def __init__(self):
        self.unread, self.count = b"", 0

    def feed(self, data):
        self.unread += data
        while len(self.unread) >= 5:
            length = 5 + int.from_bytes(self.unread[3:5], "big")
            if len(self.unread) < length:
                return
            self.count += self.unread[0] == APPLICATION_DATA
            self.unread = self.unread[length:]


def serve(folder):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.maximum_version = ssl.TLSVersion.TLSv1_2  # in 1.3 the handshake's own records look like data
    context.load_cert_chain(f"{folder}/certificate.pem", f"{folder}/key.pem")
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    plain, _ = listener.accept()
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    arrived, leaving, records, text = ssl.MemoryBIO(), ssl.MemoryBIO(), Records(), b""
    tls = context.wrap_bio(arrived, leaving, server_side=True)
    is_open, answered = False, 0
    while True:
        data = plain.recv(65536)
        records.feed(data)
        arrived.write(data) if data else arrived.write_eof()
        try:
            if not is_open:
                tls.do_handshake()
                is_open = True
            while piece := tls.read(65536):
                text += piece
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError:
            break
        while text.count(b"end\n") > answered:
            answered += 1
            tls.write(b"ok")
        try:
            plain.sendall(leaving.read())
        except OSError:
            break
        if not data:
            break
    print(records.count, len(text))
    sys.stdout.flush()
    open(f"{folder}/text", "wb").write(text)


def client(port, folder, requests, how):
    context = ssl.create_default_context(cafile=f"{folder}/certificate.pem")
    tls = context.wrap_socket(socket.create_connection(("127.0.0.1", int(port))), server_hostname="server.test")
    for number in range(int(requests)):
        pieces = request(number, how)
        if how == "threads":
            half = threading.Thread(target=lambda: [tls.sendall(piece) for piece in pieces[:25]])
            half.start()
            half.join()
            pieces = pieces[25:]
        for piece in pieces:
            tls.sendall(piece)
        if how != "leave":
            assert tls.recv(2) == b"ok"


def main():
    if sys.argv[1] == "server":
        serve(sys.argv[2])
    else:
        client(*sys.argv[2:])
    return 0


sys.exit(main())
