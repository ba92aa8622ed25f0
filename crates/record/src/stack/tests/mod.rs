//! Walks of real, stopped programs: small ones compiled here, and those that every host has.

mod compiled;
mod host;
mod subject;
