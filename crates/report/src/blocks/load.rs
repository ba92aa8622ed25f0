//! What a measured load found.

pub(crate) mod course;
pub(crate) mod curve;
pub(crate) mod errors;
pub(crate) mod how;
pub(crate) mod latency;
pub(crate) mod lead;
mod panel;
pub(crate) mod words;
