"""Takes orders, one a line; answers when they are written down. Usage: fixed.py ADDRESS PORT SECONDS

Each is written down when it comes. Ends by itself SECONDS after it began.
"""

import asyncio
import sys


async def serve(reader, writer):
    while await reader.readline():
        writer.write(b"noted\n")


async def main():
    address, port, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    server = await asyncio.start_server(serve, address, port)
    await asyncio.sleep(seconds)
    server.close()


asyncio.run(main())
