"""Works out a price, with tax. Usage: price.py CENTS"""

import decimal
import sys


def price(cents):
    return str((decimal.Decimal(cents) * decimal.Decimal("1.19") / 100).quantize(decimal.Decimal("0.01")))


if __name__ == "__main__":
    print(price(sys.argv[1]))
