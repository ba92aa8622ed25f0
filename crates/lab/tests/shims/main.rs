//! The shims, each in real programs.

mod accepts;
mod algorithms;
mod connections;
mod files;
mod functions;
mod libraries;
mod objects;
mod other;
mod pauses;
mod preload;
mod processes;
mod reads;
mod switches;
mod tickets;
mod timeouts;
mod tls;
mod tls_versions;
mod tls_writes;
mod waits;
mod writes;
