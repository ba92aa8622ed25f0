//! CPython, seen from outside.
