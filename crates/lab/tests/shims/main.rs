//! The shims, each in real programs.

mod files;
mod functions;
mod objects;
mod other;
mod preload;
mod reads;
mod tls;
mod tls_writes;
mod waits;
mod writes;
