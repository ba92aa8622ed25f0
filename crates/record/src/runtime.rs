//! Which runtime runs a process.
