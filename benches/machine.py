"""What the measurements were made on, in one paragraph."""

import os
import platform
import subprocess


def first_line(*command):
    """The first line that a command prints; `not here` where there is no such command."""
    try:
        lines = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    except FileNotFoundError:
        return "not here"
    return next((line.strip() for line in lines if line.strip()), "not here")


def field(path, name, separator):
    """The value of a `name separator value` line of a file."""
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith(name):
                return line.split(separator, 1)[1].strip().strip('"')
    return "unknown"


def describe():
    processor = field("/proc/cpuinfo", "model name", ":")
    memory = int(field("/proc/meminfo", "MemTotal", ":").split()[0]) / (1 << 20)
    system = field("/etc/os-release", "PRETTY_NAME", "=")
    tools = [first_line("strace", "-V"), first_line("perf", "--version"), first_line("tcpdump", "--version")]
    return (
        f"{os.cpu_count()} x {processor}, {memory:.0f} GiB; Linux {platform.release()}; {system}; "
        f"CPython {platform.python_version()}; {'; '.join(tools)}; "
        # Ratios survive other work on the machine, their intervals widen: a reader must be able to see it.
        f"load average before the first measurement {os.getloadavg()[0]:.1f}"
    )
