"""Takes orders, one a line; answers 30 ms after each. Usage: paused.py ADDRESS PORT SECONDS

Nothing ticks here: whoever asks later is answered later. Ends by itself SECONDS after it began.
"""

import asyncio
import sys


async def serve(reader, writer):
    while await reader.readline():
        await asyncio.sleep(0.030)
        writer.write(b"noted\n")


async def main():
    address, port, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    server = await asyncio.start_server(serve, address, port)
    await asyncio.sleep(seconds)
    server.close()


asyncio.run(main())
