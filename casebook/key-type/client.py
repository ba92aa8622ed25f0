"""Visitors, ten at once, each with a connection of its own, over which it asks a few times.

Usage: client.py ADDRESS PORT CERTIFICATE VISITORS
"""

import asyncio
import ssl
import sys

REQUESTS = 3
AT_ONCE = 10


async def ask(reader, writer):
    writer.write(b"GET /hello HTTP/1.1\r\nHost: casebook.test\r\n\r\n")
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(line for line in head.decode().split("\r\n") if line.lower().startswith("content-length:"))
    await reader.readexactly(int(length.split(":")[1]))


async def visit(address, port, context):
    reader, writer = await asyncio.open_connection(address, port, ssl=context, server_hostname="casebook.test")
    for _ in range(REQUESTS):
        await ask(reader, writer)
    return writer


async def main():
    address, port, certificate, visitors = sys.argv[1:]
    context = ssl.create_default_context(cafile=certificate)
    writers = []
    for _ in range(int(visitors) // AT_ONCE):
        # Nobody leaves before the last has been served.
        writers += await asyncio.gather(*(visit(address, int(port), context) for _ in range(AT_ONCE)))
    for writer in writers:
        writer.close()
    print(f"{visitors} visitors")


asyncio.run(main())
