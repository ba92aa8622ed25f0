"""A page of a shop whose routes, modules and words are made ready as it is loaded."""

import asyncio  # noqa: F401  what an application loads before it answers
import decimal  # noqa: F401
import email.mime.multipart  # noqa: F401
import re
import sqlite3  # noqa: F401
import urllib.request  # noqa: F401
import xml.etree.ElementTree  # noqa: F401

ROUTES = [re.compile(rf"^/shop/{number}/(?P<kind>\w+)/(?P<page>\d+)(\.html)?$") for number in range(400)]


def application(environ, start_response):
    found = ROUTES[7].match(environ["PATH_INFO"])
    body = f"page {found['page']}\n".encode() if found else b"no such page\n"
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]
