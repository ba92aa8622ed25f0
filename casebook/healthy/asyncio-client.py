"""Eight clients of a line server at once, each asking one line after another.

Usage: asyncio-client.py ADDRESS PORT REQUESTS
"""

import asyncio
import sys

CLIENTS = 8


async def ask(address, port, requests):
    reader, writer = await asyncio.open_connection(address, port)
    for number in range(requests):
        writer.write(f"order {number}\n".encode())
        await writer.drain()
        if await reader.readline() != f"ORDER {number}\n".encode():
            raise SystemExit("asyncio-client.py: a wrong answer")
    writer.close()


async def main():
    address, port, requests = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    await asyncio.gather(*(ask(address, port, requests // CLIENTS) for _ in range(CLIENTS)))
    print(f"{requests} requests")


asyncio.run(main())
