"""How fast access logs are read, beside who only counts lines: a crawler's 14 rotated files (casebook/crawler), all packed but the
newest, by `whyslow logs`, `zgrep -c`, `rg -z -c` and goaccess in one run, rounds interleaved; the same files unpacked; the cubes of
the files merged; and the memory that ten million addresses take. Programs that are not installed are left out.

Usage: logs.py WHYSLOW [ROUNDS] [LINES]     (a release build; nothing else at work meanwhile)
"""

import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import machine
import ratio

CASEBOOK = pathlib.Path(__file__).resolve().parent.parent / "casebook"
ADDRESSES = 10_000_000
COMBINED = "%h %^[%d:%t %^] \"%r\" %s %b \"%R\" \"%u\""


def timed(command, folder):
    """(seconds, peak of resident bytes, output) of a command that reads files of a folder."""
    began = time.monotonic()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, shell=isinstance(command, str))
    out = process.stdout.read()
    _, _, usage = os.wait4(process.pid, 0)
    return time.monotonic() - began, usage.ru_maxrss * 1024, out


def rounds(commands, folder, count):
    """The seconds of each command, a list by name, interleaved; the first round warms the page cache and does not count."""
    taken = {name: [] for name in commands}
    for turn in range(count + 1):
        for name, command in commands.items():
            if name == "goaccess" and turn > 1:
                # Once is enough to see how far behind it is.
                continue
            seconds, _, _ = timed(command, folder)
            if turn > 0:
                taken[name].append(seconds)
    return taken


def table(taken, bytes_read):
    print("| | seconds (median) | GB/s | whyslow is so many times as fast |\n|---|---|---|---|")
    own = taken["whyslow logs"]
    for name, seconds in taken.items():
        middle = statistics.median(seconds)
        if name == "whyslow logs":
            shown = ""
        elif len(seconds) < len(own):
            shown = f"{middle / statistics.median(own):.3g} (one run)"
        else:
            shown = ratio.shown(ratio.ratio_of_medians(seconds, own))
        print(f"| {name} | {middle:.2f} | {bytes_read / middle / 1e9:.2f} | {shown} |")


def installed(commands):
    """Those whose program is installed."""
    return {name: command for name, (program, command) in commands.items() if shutil.which(program)}


def check(out, truth):
    """What is read is what was written."""
    said = json.loads(out)
    crawler = said["suspects"][0]
    assert (said["lines"], said["malformed"]) == (truth["lines"], truth["malformed"]), "lines"
    assert (crawler["name"], crawler["demand"]["requests"]) == (truth["crawler"], truth["crawled"]), "the crawler"
    assert abs(crawler["onset"]["at_s"] - truth["onset_s"]) < 3600, crawler["onset"]
    assert crawler["onset"]["file"].endswith(truth["onset_file"]), crawler["onset"]
    print(f"Named: {crawler['name']}, {crawler['share_of_requests']:.1%} of the requests, from {crawler['onset']['file']} on.\n")


def many_addresses(whyslow, folder):
    """The memory that a log of ten million addresses takes, one request each."""
    chance = random.Random(3)
    path = folder / "addresses.log"
    with open(path, "w", encoding="ascii", buffering=1 << 20) as log:
        for at in range(ADDRESSES):
            # Each once: an odd factor goes through all numbers of 32 bits.
            bits = at * 2_654_435_761 % (1 << 32)
            client = f"{bits >> 24}.{bits >> 16 & 255}.{bits >> 8 & 255}.{bits & 255}"
            log.write(
                f'{client} - - [10/May/2024:{at // 416_667 % 24:02}:00:00 +0000] "GET /a/{chance.getrandbits(20)} HTTP/1.1" 200 1 "-" "x"\n'
            )
    seconds, peak, out = timed([whyslow, "logs", "--json", str(path)], folder)
    said = json.loads(out)
    size = path.stat().st_size
    print(
        f"\nTen million addresses ({size / 1e9:.2f} GB): {seconds:.2f} s, {size / seconds / 1e9:.2f} GB/s, at most {peak / 1e6:.0f} MB; "
        f"{said['addresses']:,} addresses said, {said['lines']:,} lines."
    )
    path.unlink()


def main():
    whyslow = str(pathlib.Path(sys.argv[1]).resolve())
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    lines = sys.argv[3] if len(sys.argv) > 3 else "3500000"
    print(f"On {machine.describe()}.\n")
    with tempfile.TemporaryDirectory(prefix="whyslow-logs-") as home:
        packed, plain, cubes = (pathlib.Path(home) / name for name in ("packed", "plain", "cubes"))
        generate = [sys.executable, str(CASEBOOK / "crawler/generate.py")]
        truth = json.loads(subprocess.run([*generate, packed, "--lines", lines], check=True, capture_output=True).stdout)
        subprocess.run([*generate, plain, "--lines", lines, "--plain"], check=True, capture_output=True)
        size = sum(file.stat().st_size for file in plain.iterdir())
        print(f"{truth['lines']:,} lines in 14 files, {size / 1e9:.3f} GB, packed {sum(file.stat().st_size for file in packed.iterdir()) / 1e6:.0f} MB.")
        _, peak, out = timed([whyslow, "logs", "--json", str(packed)], home)
        check(out, truth)
        print(f"At most {peak / 1e6:.0f} MB.\n\nPacked:\n")
        commands = {
            "whyslow logs": (whyslow, [whyslow, "logs", "--json", "."]),
            "zgrep -c": ("zgrep", "zgrep -c HarvestBot access.log*"),
            "rg -z -c": ("rg", "rg -z -c HarvestBot ."),
            "goaccess": (
                "goaccess",
                f"zcat -f access.log* | goaccess --no-global-config --log-format='{COMBINED}' --date-format=%d/%b/%Y --time-format=%T -o {home}/goaccess.json -",
            ),
        }
        table(rounds(installed(commands), packed, count), size)
        print("\nPlain:\n")
        commands = {
            "whyslow logs": (whyslow, [whyslow, "logs", "--json", "."]),
            "grep -c": ("grep", "grep -c HarvestBot access.log*"),
            "rg -c": ("rg", "rg -c HarvestBot ."),
        }
        table(rounds(installed(commands), plain, count), size)
        for file in packed.iterdir():
            timed([whyslow, "logs", "--json", str(file), "--cube", str(cubes / f"{file.name}.parquet")], home)
        seconds, _, out = timed([whyslow, "logs", "merge", "--json", str(cubes)], home)
        check(out, truth)
        bytes_of_cubes = sum(file.stat().st_size for file in cubes.iterdir())
        print(f"\nThe 14 files' cubes ({bytes_of_cubes / 1e6:.1f} MB), merged: {seconds:.2f} s.")
        many_addresses(whyslow, pathlib.Path(home))


main()
