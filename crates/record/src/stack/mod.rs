//! Stacks.
