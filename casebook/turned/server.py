"""Answers with a price that it asks another process for, which takes 10 ms. Usage: server.py ADDRESS PORT turned|awaited|divided

`turned` looks at each turn of the event loop whether the price has come, `awaited` waits for it. `divided` computes the price itself,
and lets others have a turn after each part.
"""

import asyncio
import os
import socket
import sys
import time

PARTS, PART = 400, 1_000


def sell(connection):
    """The other process: a price for each line."""
    while connection.recv(100):
        time.sleep(0.01)
        connection.sendall(b"42\n")


async def asked(prices):
    reader, writer = prices
    writer.write(b"price\n")
    return (await reader.readline()).strip()


async def computed():
    price = 0
    for part in range(PARTS):
        price += sum(range(part, part + PART))
        await asyncio.sleep(0)
    return b"%d" % price


async def price(way, prices):
    if way == "divided":
        return await computed()
    task = asyncio.create_task(asked(prices))
    while way == "turned" and not task.done():
        await asyncio.sleep(0)  # casebook: turns the loop
    return await task


async def answer(way, prices, reader, writer):
    try:
        while True:
            await reader.readuntil(b"\r\n\r\n")
            body = await price(way, prices)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    except asyncio.IncompleteReadError:
        writer.close()


async def main(address, port, way, connection):
    prices = await asyncio.open_connection(sock=connection)
    serving = await asyncio.start_server(lambda *ends: answer(way, prices, *ends), address, int(port))
    await serving.serve_forever()


if __name__ == "__main__":
    own, other = socket.socketpair()
    if os.fork() == 0:
        own.close()
        sell(other)
        os._exit(0)
    other.close()
    asyncio.run(main(*sys.argv[1:], own))
