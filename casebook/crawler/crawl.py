"""A crawler that goes over a blog's lists of posts, as fast as it gets them, and one reader among its requests.

Usage: crawl.py ADDRESS PORT REQUESTS
"""

import gzip
import http.client
import random
import sys

CRAWLER = "Mozilla/5.0 (compatible; HarvestBot/2.3; +http://harvest.example/bot.html)"
READER = "Mozilla/5.0 (X11; Linux x86_64; rv:125.0) Gecko/20100101 Firefox/125.0"
TAGS = "bread oven stone flour water rye wheat malt".split()


def ask(connection, target, agent):
    connection.request("GET", target, headers={"User-Agent": agent, "Accept-Encoding": "gzip"})
    answer = connection.getresponse()
    content = answer.read()
    if answer.headers.get("Content-Encoding") == "gzip":
        content = gzip.decompress(content)
    return answer.status, len(content)


def main():
    address, port, requests = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    chance = random.Random(1)
    crawler, reader = (http.client.HTTPConnection(address, port) for _ in range(2))
    answers = {}
    for number in range(requests):
        target = f"/tag/{chance.choice(TAGS)}?page={chance.randrange(1, 400)}&sort={chance.choice(('new', 'old'))}"
        status, _ = ask(crawler, target, CRAWLER)
        answers[status] = answers.get(status, 0) + 1
        if number % 10 == 0:
            ask(reader, f"/posts/2016/{number}/", READER)
    print(f"the crawler was answered {answers}")


main()
