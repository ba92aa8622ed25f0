"""Serves files. Usage: server.py ADDRESS PORT FOLDER"""

import os
import socket
import sys
import threading


def asked(stream):
    """The name of the file in the next request; None at the end."""
    line = stream.readline()
    while stream.readline() not in (b"\r\n", b""):
        pass
    return line.split()[1].decode().strip("/") if line else None


def serve(connection, folder, done=lambda connection: None):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
    with connection, connection.makefile("rb") as stream:
        while name := asked(stream):
            with open(os.path.join(folder, os.path.basename(name)), "rb") as file:
                size = os.fstat(file.fileno()).st_size
                connection.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n".encode())
                os.sendfile(connection.fileno(), file.fileno(), 0, size)  # casebook: the end of the file waits
            done(connection)


def main(done=lambda connection: None):
    listener = socket.create_server((sys.argv[1], int(sys.argv[2])))
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(connection, sys.argv[3], done), daemon=True).start()


if __name__ == "__main__":
    main()
