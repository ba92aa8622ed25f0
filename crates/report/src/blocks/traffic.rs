//! What access logs say.

pub(crate) mod files;
pub(crate) mod lead;
pub(crate) mod over_time;
pub(crate) mod suspects;
pub(crate) mod tables;
pub(crate) mod words;
