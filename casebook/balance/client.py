"""Sends requests at the times of a fixed trace, whatever has become of those before; prints their times.

Usage: client.py ADDRESS PORT REQUESTS RATE two SHORT LONG
       client.py ADDRESS PORT REQUESTS RATE uneven LEAST MOST

RATE requests a second arrive as they please (exponential gaps). `two`: one in a hundred takes LONG ms, the others SHORT.
`uneven`: none is like the other, most take little more than LEAST ms and few up to MOST (Pareto, with the exponent 1.5).
All is drawn with a fixed seed: every run sends the same. A request's time counts from when it was due.
"""

import asyncio
import random
import sys


EXPONENT = 1.5


def two(requests, short, long):
    # Exactly one in a hundred, wherever they fall.
    return [long] * (requests // 100) + [short] * (requests - requests // 100)


def uneven(requests, least, most):
    # The distribution's quantiles: as even a draw of it as there is.
    drawn = (least * (1 - (place + 0.5) / requests) ** (-1 / EXPONENT) for place in range(requests))
    return [min(service, most) for service in drawn]


def trace(requests, rate, services):
    draw = random.Random(2024)
    draw.shuffle(services)
    due = 0.0
    for service in services:
        due += draw.expovariate(rate)
        yield due, service


async def request(address, port, begin, due, service, times):
    loop = asyncio.get_running_loop()
    await asyncio.sleep(begin + due - loop.time())
    reader, writer = await asyncio.open_connection(address, port)
    writer.write(b"GET /%.1f HTTP/1.1\r\nHost: casebook.test\r\nConnection: close\r\n\r\n" % service)
    answer = await reader.read()
    writer.close()
    if not answer.startswith(b"HTTP/1.1 200"):
        raise SystemExit(f"client.py: the server answered {answer[:40]!r}")
    times.append(loop.time() - begin - due)


async def main():
    address, port = sys.argv[1], int(sys.argv[2])
    requests, rate = int(sys.argv[3]), float(sys.argv[4])
    services = {"two": two, "uneven": uneven}[sys.argv[5]](requests, float(sys.argv[6]), float(sys.argv[7]))
    times = []
    begin = asyncio.get_running_loop().time() + 0.1
    plan = trace(requests, rate, services)
    await asyncio.gather(*(request(address, port, begin, due, service, times) for due, service in plan))
    times.sort()
    figures = (f"p{share} {1e3 * times[len(times) * share // 100]:.1f} ms" for share in (50, 95, 99))
    print(f"{requests} requests, {', '.join(figures)}, mean {1e3 * sum(times) / len(times):.1f} ms")


asyncio.run(main())
