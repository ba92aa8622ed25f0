"""A page of a line. Usage: tornado-server.py ADDRESS PORT"""

import asyncio
import sys

import tornado.web


class Hello(tornado.web.RequestHandler):
    def get(self):
        self.write("hello from the casebook\n")


async def main():
    application = tornado.web.Application([("/hello", Hello)], log_function=lambda _handler: None)
    application.listen(int(sys.argv[2]), address=sys.argv[1])
    await asyncio.Event().wait()


asyncio.run(main())
