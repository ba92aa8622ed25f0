"""Writes what a blog's lists of posts look like: STATE/list.html, 200 kB of it, the same each time.

Usage: make_blog.py STATE
"""

import random
import sys

WORDS = "bread oven stone flour water time slow rye wheat malt salt crumb crust score fold proof starter kitchen garden".split()


def main():
    chance = random.Random(1)
    posts = []
    for number in range(600):
        title = " ".join(chance.sample(WORDS, 5)).capitalize()
        text = " ".join(chance.choices(WORDS, k=45))
        posts.append(f'<article><h2><a href="/posts/{2012 + number % 12}/{number}/">{title}</a></h2><p>{text}.</p></article>')
    with open(f"{sys.argv[1]}/list.html", "w") as file:
        file.write("<!doctype html><title>All posts</title>\n" + "\n".join(posts) + "\n")


main()
