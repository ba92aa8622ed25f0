"""Writes a page, as a CGI script does: the query is in QUERY_STRING, the page goes to standard output."""

import decimal
import html
import json
import os
import string
import urllib.parse

TEMPLATE = string.Template("<html><body><h1>order $number</h1><p>$price</p><script>$data</script></body></html>\n")


def page(query):
    number = urllib.parse.parse_qs(query)["number"][0]
    price = decimal.Decimal(number) * decimal.Decimal("1.19")
    data = json.dumps({"number": number, "price": str(price)})
    return TEMPLATE.substitute(number=html.escape(number), price=price, data=data)


if __name__ == "__main__":
    print(page(os.environ["QUERY_STRING"]), end="")
