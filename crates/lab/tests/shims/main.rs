//! The shims, each in real programs.

mod files;
mod functions;
mod objects;
mod other;
mod preload;
mod reads;
mod tls;
mod waits;
mod writes;
