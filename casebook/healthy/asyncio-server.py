"""An asyncio server that answers every line. Usage: asyncio-server.py ADDRESS PORT SECONDS"""

import asyncio
import sys


async def serve(reader, writer):
    while line := await reader.readline():
        writer.write(line.upper())
        await writer.drain()
    writer.close()


async def main():
    address, port, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    server = await asyncio.start_server(serve, address, port)
    async with server:
        await asyncio.sleep(seconds)


asyncio.run(main())
