"""A page of a line. Usage: aiohttp-server.py ADDRESS PORT"""

import sys

from aiohttp import web


async def hello(_request):
    return web.Response(text="hello from the casebook\n")


application = web.Application()
application.add_routes([web.get("/hello", hello)])
web.run_app(application, host=sys.argv[1], port=int(sys.argv[2]), print=None, access_log=None)
