"""Writes a blog's access logs of two weeks, rotated by the day: the newest as it stands, the others packed by gzip. On the
tenth day a crawler that was hardly seen before goes over every list of posts that there is. Prints what is true of them as
JSON; the same arguments write the same bytes.

Usage: generate.py FOLDER [--lines 3500000] [--seed 1] [--quiet] [--timed] [--plain]

--quiet  the crawler stays as it was
--timed  each line ends with the time that the answer took, in seconds, as nginx's $request_time
--plain  nothing is packed
"""

import argparse
import datetime
import json
import math
import multiprocessing
import os
import random
import zlib
from itertools import accumulate

DAYS = 14
# 2024-05-01 00:00 UTC, and the hour in which the crawler comes: the tenth day, ten past three in the afternoon.
FIRST = datetime.datetime(2024, 5, 1, tzinfo=datetime.timezone.utc)
ONSET_S = (9 * 24 + 15) * 3600 + 600
CRAWLER = "Mozilla/5.0 (compatible; HarvestBot/2.3; +http://harvest.example/bot.html)"
# Of all requests: before it comes, and from then on.
SHARE_BEFORE = 0.002
SHARE_AFTER = 0.55
# One line of so many is cut short, as by a full disk.
CUT_IN = 50_000

WORDS = (
    "bread oven stone flour water time slow rye wheat malt salt crumb crust score fold proof starter hydration levain "
    "kitchen garden season notes weekend letter market river winter summer harvest table morning"
).split()
BROWSERS = [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{}.0.0.0 Safari/537.36",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.{} Safari/605.1.15",
    "Mozilla/5.0 (X11; Linux x86_64; rv:{0}.0) Gecko/20100101 Firefox/{0}.0",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/{}.0 Mobile/15E148",
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{}.0.0.0 Mobile Safari/537.36",
]
# Who asks besides browsers, and how many of a thousand requests are theirs.
PROGRAMS = [
    ("Mozilla/5.0 (compatible; SearchBot/2.1; +http://search.example/bot)", 20),
    ("FeedReader/5.2 (+http://reader.example; 214 subscribers)", 25),
    ("uptime-check/1.4", 5),
    ("-", 8),
]


class Blog:
    """What there is to ask for, and who asks: the same for all days."""

    def __init__(self, seed):
        chance = random.Random(f"blog {seed}")
        self.posts = [f"/posts/{2012 + post % 12}/{'-'.join(chance.sample(WORDS, 5))}/" for post in range(1800)]
        # A few posts are read by most.
        self.popularity = list(accumulate(1 / rank for rank in range(1, len(self.posts) + 1)))
        self.files = [f"/static/{word}-{chance.getrandbits(32):08x}.{kind}" for word in WORDS for kind in ("css", "js", "webp")]
        self.visitors = [address(chance) for _ in range(120_000)]
        self.crawlers = [f"198.51.{100 + network}.{host}" for network in range(4) for host in range(10, 110)]
        agents = [(agent.format(chance.randrange(100, 126)), 942 / 40) for agent in BROWSERS for _ in range(8)] + PROGRAMS
        self.agents = [agent for agent, _ in agents]
        self.weights = list(accumulate(weight for _, weight in agents))


def address(chance):
    """One of a provider's: networks are shared, addresses mostly not."""
    bits = chance.getrandbits(32)
    return f"{11 + bits % 80}.{bits >> 8 & 255}.{bits >> 16 & 255}.{bits >> 24}"


def target_of_visitor(blog, chance, post):
    """What a visitor asks for: (target, bytes, seconds)."""
    kind = chance.random()
    if kind < 0.55:
        file = chance.choice(blog.files)
        return file, 2_000 + len(file) * 911, 0.0
    if kind < 0.88:
        return post, 9_000 + len(post) * 173, 0.004
    if kind < 0.94:
        return "/", 14_213, 0.006
    if kind < 0.97:
        return "/feed.xml", 88_120, 0.002
    return f"/search?q={chance.choice(WORDS)}+{chance.choice(WORDS)}", 6_411, 0.025


def of_day(task):
    """The lines of a day: how many are of the crawler, and how many were cut."""
    folder, options, day, counts = task
    blog, chance = Blog(options.seed), random.Random(f"day {options.seed} {day}")
    date = FIRST + datetime.timedelta(days=day)
    age = DAYS - 1 - day
    name = "access.log" if age == 0 else f"access.log.{age}" + ("" if options.plain else ".gz")
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    crawled, cut = 0, 0
    with open(os.path.join(folder, name), "wb") as file:
        for hour, (visitors, crawlers) in enumerate(counts):
            lines, of_crawler, of_cut = of_hour(blog, chance, options, date, hour, visitors, crawlers)
            (crawled, cut) = (crawled + of_crawler, cut + of_cut)
            text = "".join(lines).encode()
            file.write(text if age == 0 or options.plain else packer.compress(text))
        if age > 0 and not options.plain:
            file.write(packer.flush())
    return name, sum(map(sum, counts)), crawled, cut


def of_hour(blog, chance, options, date, hour, visitors, crawlers):
    """The lines of an hour in the order of time, how many of them are the crawler's and how many are cut."""
    begins_s = (date - FIRST).days * 86_400 + hour * 3600
    # In the hour in which it comes, what it asks for more begins at the minute.
    from_s = max(0, ONSET_S - begins_s) if 0 <= ONSET_S - begins_s < 3600 and not options.quiet else 0
    times = [(chance.randrange(3600), False) for _ in range(visitors)]
    times += [(chance.randrange(from_s, 3600), True) for _ in range(crawlers)]
    times.sort()
    posts = chance.choices(blog.posts, cum_weights=blog.popularity, k=len(times))
    agents = chance.choices(blog.agents, cum_weights=blog.weights, k=len(times))
    lines, of_crawler, of_cut = [], 0, 0
    clock = date.strftime(f"%d/%b/%Y:{hour:02}:")
    for (second, is_crawler), post, agent in zip(times, posts, agents):
        status, referrer = 200, "-"
        if is_crawler:
            client, agent = chance.choice(blog.crawlers), CRAWLER
            target = f"/tag/{chance.choice(WORDS)}?page={chance.randrange(1, 400)}&sort={chance.choice(('new', 'old'))}"
            size, took = 31_000 + len(target) * 97, 0.045
        else:
            client = chance.choice(blog.visitors)
            target, size, took = target_of_visitor(blog, chance, post)
            if agent.startswith("Mozilla/5.0 (") and target != post and "compatible" not in agent:
                referrer = "https://blog.example" + post
            if chance.random() < 0.06:
                status, size = chance.choice(((304, 0), (304, 0), (404, 1_162), (301, 162)))
        line = (
            f'{client} - - [{clock}{second // 60:02}:{second % 60:02} +0000] "GET {target} HTTP/1.1" '
            f'{status} {size} "{referrer}" "{agent}"'
        )
        if options.timed:
            line += f" {took * (0.5 + chance.random()):.3f}"
        if chance.randrange(CUT_IN) == 0:
            line = line[: chance.randrange(8, 60)]
            of_cut += 1
        elif is_crawler:
            of_crawler += 1
        lines.append(line + "\n")
    return lines, of_crawler, of_cut


def counts_of(options):
    """By day and hour, how many requests are visitors' and how many the crawler's; they add up to what is asked for."""
    weights = []
    for hour in range(DAYS * 24):
        visitors = 1 + 0.6 * math.sin((hour % 24 - 9) / 24 * 2 * math.pi) + (0.15 if hour // 24 % 7 in (3, 4) else 0)
        after = 0 if options.quiet else min(max(hour * 3600 + 3600 - ONSET_S, 0), 3600) / 3600
        # A crawler asks at its own pace, by day and by night.
        crawlers = SHARE_BEFORE * (1 - after) + after * SHARE_AFTER / (1 - SHARE_AFTER)
        weights += [visitors, crawlers]
    whole, sums = sum(weights), [0, *accumulate(weights)]
    ends = [round(options.lines * part / whole) for part in sums]
    counts = [after - before for before, after in zip(ends, ends[1:])]
    pairs = list(zip(counts[::2], counts[1::2]))
    return [pairs[day * 24 : day * 24 + 24] for day in range(DAYS)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--lines", type=int, default=3_500_000)
    parser.add_argument("--seed", type=int, default=1)
    for flag in ("--quiet", "--timed", "--plain"):
        parser.add_argument(flag, action="store_true")
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    tasks = [(options.folder, options, day, counts) for day, counts in enumerate(counts_of(options))]
    with multiprocessing.Pool() as pool:
        files = pool.map(of_day, tasks, chunksize=1)
    onset = None if options.quiet else int(FIRST.timestamp()) + ONSET_S
    truth = {
        "lines": sum(lines for _, lines, _, _ in files),
        "malformed": sum(cut for _, _, _, cut in files),
        "crawler": "HarvestBot",
        "crawled": sum(crawled for _, _, crawled, _ in files),
        "onset_s": onset,
        "onset_file": "" if options.quiet else files[ONSET_S // 86_400][0],
        "files": [{"name": name, "lines": lines, "crawled": crawled, "malformed": cut} for name, lines, crawled, cut in files],
    }
    print(json.dumps(truth))


if __name__ == "__main__":
    main()
