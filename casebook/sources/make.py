"""Writes an application of many small classes, one a file. Usage: make.py FOLDER NUMBER"""

import pathlib
import sys

CLASS = """<?php
namespace Shop\\Parts;

class Part{number}
{{
    public function name(): string {{ return "part {number}"; }}
    public function price(int $pieces): int {{ return $pieces * {price}; }}
}}
"""

PAGE = """<?php
$total = 0;
for ($number = 0; $number < {number}; $number++) {{
    require_once "{folder}/parts/Part$number.php";
    $class = "Shop\\\\Parts\\\\Part$number";
    $total += (new $class)->price(2);
}}
echo json_encode(["total" => $total]), "\\n";
"""


def main():
    folder, number = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    (folder / "parts").mkdir(parents=True)
    for part in range(number):
        text = CLASS.format(number=part, price=100 + part % 50)
        (folder / "parts" / f"Part{part}.php").write_text(text)
    (folder / "page.php").write_text(PAGE.format(number=number, folder=folder))


main()
