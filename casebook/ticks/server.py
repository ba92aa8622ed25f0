"""Takes orders, one a line, and gathers them; answers when they are written down. Usage: server.py ADDRESS PORT SECONDS

What was gathered is written down every 30 ms. Ends by itself SECONDS after it began.
"""

import asyncio
import sys

orders = []


async def serve(reader, writer):
    while await reader.readline():
        orders.append(writer)


async def gather():
    while True:
        await asyncio.sleep(0.030)
        while orders:
            orders.pop(0).write(b"noted\n")  # casebook: answers all at once


async def main():
    address, port, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    gathering = asyncio.create_task(gather())
    server = await asyncio.start_server(serve, address, port)
    await asyncio.sleep(seconds)
    server.close()
    gathering.cancel()


asyncio.run(main())
