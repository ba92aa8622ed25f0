//! What a series of measurements shows over time.

pub(crate) mod driven;
pub(crate) mod lead;
pub(crate) mod levels;
pub(crate) mod over_time;
mod words;

pub(in crate::blocks) use words::rate;
