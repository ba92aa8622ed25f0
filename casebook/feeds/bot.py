"""Refreshes feeds as many bots do: urlopen for each, with what is known of it. Usage: bot.py HOSTS FEEDS ROUNDS

HOSTS says where names are, as /etc/hosts does; FEEDS is a list of addresses. $SSL_CERT_FILE names the CA bundle. Prints
a line for each round. Runs with the Python of any Debian release since bullseye.
"""

import concurrent.futures
import gzip
import socket
import sys
import time
import urllib.error
import urllib.request
import xml.etree.ElementTree as ElementTree

WORKERS = 8
LONGEST = 1 << 20


def look_up_in(file):
    """The farm's names are in no DNS."""
    with open(file) as lines:
        addresses = {name: address for address, name in map(str.split, lines)}
    system = socket.getaddrinfo
    socket.getaddrinfo = lambda host, *rest, **named: system(addresses.get(host, host), *rest, **named)


class Feed:
    def __init__(self, address):
        self.address = address
        self.tag = None
        self.known = set()

    def refresh(self):
        """What came of it, and how many entries are new."""
        request = urllib.request.Request(self.address, headers={"User-Agent": "bot", "Accept-Encoding": "gzip"})
        if self.tag:
            request.add_header("If-None-Match", self.tag)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:  # casebook: a context for each feed
                body, self.tag = answer.read(LONGEST), answer.headers["ETag"]
            if answer.headers["Content-Encoding"] == "gzip":
                body = gzip.decompress(body)
            entries = self.entries(ElementTree.fromstring(body))
        except urllib.error.HTTPError as error:
            return ("unchanged" if error.code == 304 else "failed"), 0
        except (OSError, EOFError, ElementTree.ParseError):
            return "failed", 0
        new = entries - self.known
        self.known |= entries
        return "changed", len(new)

    @staticmethod
    def entries(tree):
        """The ids of the entries, of RSS or Atom."""
        names = {"guid", "{http://www.w3.org/2005/Atom}id"}
        return {child.text for entry in tree.iter() for child in entry if child.tag in names}


def main():
    look_up_in(sys.argv[1])
    with open(sys.argv[2]) as lines:
        feeds = [Feed(line.strip()) for line in lines]
    for _ in range(int(sys.argv[3])):
        begun, cpu = time.time(), time.process_time()
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            results = list(pool.map(Feed.refresh, feeds))
        counts = {what: sum(1 for one, _ in results if one == what) for what in ("changed", "unchanged", "failed")}
        said = ", ".join(f"{count} {what}" for what, count in counts.items())
        took, cpu = time.time() - begun, time.process_time() - cpu
        new = sum(new for _, new in results)
        print(f"{said}, {new} new entries")
        print(f"time={begun:.3f} round_s={took:.3f} cpu_s={cpu:.3f}", flush=True)


main()
