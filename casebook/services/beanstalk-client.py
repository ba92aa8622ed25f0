"""Puts jobs into a queue, and takes each out again. Usage: beanstalk-client.py ADDRESS PORT JOBS"""

import socket
import sys


def main():
    address, port, jobs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with socket.create_connection((address, port)) as connection, connection.makefile("rb") as answers:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

        def ask(words):
            connection.sendall(words)
            return answers.readline().split()

        for number in range(jobs):
            job = b"job %d" % number
            ask(b"put 0 0 60 %d\r\n%s\r\n" % (len(job), job))
            reserved = ask(b"reserve\r\n")
            answers.read(int(reserved[2]) + 2)
            ask(b"delete %s\r\n" % reserved[1])
    print(f"{jobs} jobs")


main()
