//! Walks of real, stopped programs: small ones compiled here, and those that every host has.

#![allow(clippy::unwrap_used, reason = "a failing unwrap is a failing test")]

mod compiled;
mod gone;
mod host;
mod subject;
