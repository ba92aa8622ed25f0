//! Documents made by hand, for the tests.

pub(crate) mod answer;
pub(crate) mod bisection;
pub(crate) mod comparison;
pub(crate) mod feeds;
pub(crate) mod load;
pub(crate) mod matrix;
pub(crate) mod steps;
pub(crate) mod sweep;
pub(crate) mod traffic;
pub(crate) mod views;
pub(crate) mod watched;
