"""Starts a program under seccomp filters that compare the number of each system call with one after the other.

Usage: filtered.py FILTERS RULES PROGRAM [ARGUMENT...]
"""

import ctypes
import os
import struct
import sys

# linux/prctl.h, linux/seccomp.h, linux/filter.h
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, MODE_FILTER = 22, 38, 2
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, FAIL = 0x7FFF0000, 0x00050001
# Where a call's number and its first argument stand (struct seccomp_data).
NUMBER, ARGUMENT = 0, 16


def statement(code, value, if_equal=0, if_not=0):
    return struct.pack("=HBBI", code, if_equal, if_not, value)


def refuses(value):
    return statement(JUMP_IF_EQUAL, value, 0, 1) + statement(RETURN, FAIL)


def program(rules):
    """Refuses numbers that no call has, and one argument: the kernel remembers what depends on the number alone."""
    numbers = b"".join(refuses(10_000 + rule) for rule in range(rules))
    argument = statement(LOAD, ARGUMENT) + refuses(0xDEADBEEF)
    return statement(LOAD, NUMBER) + numbers + argument + statement(RETURN, ALLOW)


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("statements", ctypes.c_void_p)]


def main():
    filters, rules = int(sys.argv[1]), int(sys.argv[2])
    statements = program(rules)
    kept = ctypes.create_string_buffer(statements, len(statements))
    one = Program(len(statements) // 8, ctypes.addressof(kept))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    for _ in range(filters):
        if libc.prctl(PR_SET_SECCOMP, MODE_FILTER, ctypes.byref(one), 0, 0):
            raise SystemExit(f"filtered.py: {os.strerror(ctypes.get_errno())}")
    os.execvp(sys.argv[3], sys.argv[3:])


main()
