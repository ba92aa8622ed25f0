"""A name server that is deaf to the first question for an IPv6 address. Usage: resolver.py ADDRESS deaf|far|sound SECONDS

Every name in casebook.test has one IPv4 address (ours) and no IPv6 address; there are no other names. `deaf` answers an AAAA
question only when it is asked again, as happens where one of two questions sent at once is lost on the way. `far` answers after
20 ms, as one does that is far away. Ends by itself after SECONDS.
"""

import select
import socket
import struct
import sys
import time

AAAA = 28
KNOWN = b"\x08casebook\x04test\x00"


def parse(question):
    """The question section (name, type, class) of a DNS query, and its type."""
    end = 12
    while question[end]:
        end += 1 + question[end]
    section = question[12 : end + 5]
    return section, struct.unpack(">H", section[-4:-2])[0]


def answer(query, section, record_type, address):
    """An answer without records for AAAA, 'no such name' for names of others, and our own address for everything else."""
    host, _, rest = section[1:].partition(b"\x08")
    is_known = host.isalnum() and b"\x08" + rest[:-4] == KNOWN
    answers = 0 if record_type == AAAA or not is_known else 1
    head = query[:2] + struct.pack(">HHHHH", 0x8180 if is_known else 0x8183, 1, answers, 0, 0)
    record = b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 60, 4) + socket.inet_aton(address)
    return head + section + record * answers


def greet(client):
    """What every host of this story has to say."""
    with client:
        client.recv(256)
        client.sendall(b"welcome\n")


def main():
    address, kind, end = sys.argv[1], sys.argv[2], time.monotonic() + float(sys.argv[3])
    asked = set()
    questions = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    questions.bind((address, 53))
    web = socket.create_server((address, 80))
    while time.monotonic() < end:
        ready, _, _ = select.select([questions, web], [], [], 1)
        if web in ready:
            greet(web.accept()[0])
        if questions in ready:
            query, client = questions.recvfrom(512)
            section, record_type = parse(query)
            lost = kind == "deaf" and record_type == AAAA and section not in asked
            asked.add(section)
            if kind == "far":
                time.sleep(0.02)
            if not lost:
                questions.sendto(answer(query, section, record_type, address), client)


main()
