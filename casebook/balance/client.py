"""Sends requests at the times of a fixed trace, whatever has become of those before; prints their times.

Usage: client.py ADDRESS PORT REQUESTS RATE SHORT LONG

RATE requests a second arrive as they please (exponential gaps); one in a hundred takes LONG ms, the others SHORT. Both
are drawn with a fixed seed: every run sends the same. A request's time counts from when it was due.
"""

import asyncio
import random
import sys


def trace(requests, rate, short, long):
    draw = random.Random(2024)
    # Exactly one in a hundred, wherever they fall.
    services = [long] * (requests // 100) + [short] * (requests - requests // 100)
    draw.shuffle(services)
    due = 0.0
    for service in services:
        due += draw.expovariate(rate)
        yield due, service


async def request(address, port, begin, due, service, times):
    loop = asyncio.get_running_loop()
    await asyncio.sleep(begin + due - loop.time())
    reader, writer = await asyncio.open_connection(address, port)
    writer.write(b"GET /%d HTTP/1.1\r\nHost: casebook.test\r\nConnection: close\r\n\r\n" % service)
    answer = await reader.read()
    writer.close()
    if not answer.startswith(b"HTTP/1.1 200"):
        raise SystemExit(f"client.py: the server answered {answer[:40]!r}")
    times.append(loop.time() - begin - due)


async def main():
    address, port = sys.argv[1], int(sys.argv[2])
    requests, rate, short, long = int(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5]), int(sys.argv[6])
    times = []
    begin = asyncio.get_running_loop().time() + 0.1
    plan = trace(requests, rate, short, long)
    await asyncio.gather(*(request(address, port, begin, due, service, times) for due, service in plan))
    times.sort()
    figures = (f"p{share} {1e3 * times[len(times) * share // 100]:.1f} ms" for share in (50, 95, 99))
    print(f"{requests} requests, {', '.join(figures)}")


asyncio.run(main())
