"""Writes a catalogue of goods, and the same compressed: catalogue.json and catalogue.json.gz.

Usage: make_catalogue.py FOLDER
"""

import gzip
import json
import random
import sys

WORDS = "a box of the best oak and steel for home or yard with lid and lock made by hand in small runs to last long".split()
COLOURS = ["red", "green", "blue", "black", "white"]


def main():
    chance = random.Random(1)
    goods = [
        {
            "id": number,
            "name": f"item {chance.randrange(10**6)}",
            "price": chance.randrange(100, 100_000) / 100,
            "colours": chance.sample(COLOURS, 3),
            "text": " ".join(chance.choices(WORDS, k=40)),
        }
        for number in range(1200)
    ]
    text = json.dumps(goods).encode()
    for name, content in [("catalogue.json", text), ("catalogue.json.gz", gzip.compress(text, 9))]:
        with open(f"{sys.argv[1]}/{name}", "wb") as file:
            file.write(content)


main()
