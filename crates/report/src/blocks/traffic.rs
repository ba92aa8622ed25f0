//! What access logs say.

pub(crate) mod costs;
pub(crate) mod files;
pub(crate) mod hours;
pub(crate) mod lead;
pub(crate) mod live;
pub(crate) mod over_time;
pub(crate) mod suspects;
pub(crate) mod tables;
pub(crate) mod words;
