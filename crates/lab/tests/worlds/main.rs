//! Worlds and links: what is made for trials, on a real kernel.

mod changes;
mod matrix_builds;
mod mirror;
mod namespaces;
