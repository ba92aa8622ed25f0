"""`whyslow pcap` beside `tshark -q -z conv,tcp`, over the same capture of 1 GB: requests and answers of many connections, made
by seed, whole packets with their payload."""

import os
import random
import statistics
import struct
import subprocess
import time

from workshop import WHYSLOW, Workshop, answer_of, progress

SIZE = int(os.environ.get("BYTES", "1000000000"))
REPEATS = 3
# So many connections are open at a time, each of so many exchanges.
OPEN, EXCHANGES = 200, 50
# An answer fills so many segments.
SEGMENT, SEGMENTS = 1448, 8
SYN, ACK, PUSH, FIN = 0x02, 0x10, 0x08, 0x01


def packet(flow, flags, sequence, acknowledged, payload):
    """An Ethernet frame; checksums are left to the card, as in captures of one's own traffic."""
    source, destination = flow
    tcp = struct.pack(">HHIIBBHHH", source[1], destination[1], sequence, acknowledged, 0x50, flags, 65535, 0, 0)
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 40 + len(payload), 0, 0, 64, 6, 0, source[0], destination[0])
    return b"\0" * 12 + b"\x08\x00" + ip + tcp + payload


class Connection:
    """One connection's packets, one after another."""

    def __init__(self, number):
        client = (struct.pack(">I", 0x0A000000 + number // 50_000), 10_000 + number % 50_000)
        self.out, self.back = (client, (b"\x0a\xff\x00\x01", 80)), ((b"\x0a\xff\x00\x01", 80), client)

    def packets(self):
        request = b"GET /things/1234 HTTP/1.1\r\nHost: a.test\r\nUser-Agent: bench/1.0\r\n\r\n"
        head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n"
        length = SEGMENT * SEGMENTS - len(head % 10_000)
        answer = head % length + b"x" * length
        ours, theirs = 1, 1
        yield packet(self.out, SYN, 0, 0, b"")
        yield packet(self.back, SYN | ACK, 0, 1, b"")
        yield packet(self.out, ACK, ours, theirs, b"")
        for _ in range(EXCHANGES):
            yield packet(self.out, PUSH | ACK, ours, theirs, request)
            ours += len(request)
            for start in range(0, len(answer), SEGMENT):
                part = answer[start : start + SEGMENT]
                yield packet(self.back, PUSH | ACK, theirs, ours, part)
                theirs += len(part)
                if start // SEGMENT % 2:
                    yield packet(self.out, ACK, ours, theirs, b"")
        yield packet(self.out, FIN | ACK, ours, theirs, b"")
        yield packet(self.back, FIN | ACK, theirs, ours + 1, b"")
        yield packet(self.out, ACK, ours + 1, theirs + 1, b"")


def capture(path):
    """Writes a capture; how many packets and exchanges are in it."""
    chance, now, number, packets, begun = random.Random(1), 1_700_000_000_000_000, 0, 0, 0
    with open(path, "wb", buffering=1 << 20) as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        connections = []
        while file.tell() < SIZE or connections:
            while len(connections) < OPEN and file.tell() < SIZE:
                connections.append(Connection(number).packets())
                number, begun = number + 1, begun + EXCHANGES
            place = chance.randrange(len(connections))
            frame = next(connections[place], None)
            if frame is None:
                connections.pop(place)
                continue
            now, packets = now + chance.randrange(1, 10), packets + 1
            file.write(struct.pack("<IIII", now // 1_000_000, now % 1_000_000, len(frame), len(frame)) + frame)
    return packets, begun


def timed(command):
    """Runs a command: (seconds, peak memory in bytes, what it printed)."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    stdout = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 1):
        raise SystemExit(f"benchmark: {command[0]} failed with {child.returncode}")
    return time.perf_counter() - start, usage.ru_maxrss * 1024, stdout


def section():
    """The section of docs/benchmarks.md."""
    with Workshop() as workshop:
        path = workshop.path("capture.pcap")
        progress("captures: writing one")
        packets, exchanges = capture(path)
        size, rounds = os.path.getsize(path), []
        for number in range(REPEATS):
            progress(f"captures: round {number + 1} of {REPEATS}")
            ours = timed([WHYSLOW, "pcap", path, "--json", "-o", workshop.case()])
            rounds.append((ours, timed(["tshark", "-n", "-q", "-r", path, "-z", "conv,tcp"])))
        answer = answer_of(rounds[0][0][2])
        if answer["exchanges"] != exchanges:
            raise SystemExit(f"benchmark: {exchanges} exchanges were written and {answer['exchanges']} found")
    ratio = statistics.median(theirs[0] / ours[0] for ours, theirs in rounds)
    lines = [
        "## Captures",
        "",
        f"A capture of {size / 1e9:.2f} GB ({packets:,} packets, {exchanges:,} exchanges); median of {REPEATS} interleaved rounds.",
        "",
        "| program | time | GB a second | peak memory |",
        "|---|---|---|---|",
    ]
    for place, name in enumerate(["whyslow pcap", "tshark -q -z conv,tcp"]):
        seconds = statistics.median(one[place][0] for one in rounds)
        memory = max(one[place][1] for one in rounds)
        lines.append(f"| {name} | {seconds:.2f} s | {size / seconds / 1e9:.2f} | {memory / 1e6:.0f} MB |")
    return lines + ["", f"tshark takes {ratio:.1f} times as long."]
