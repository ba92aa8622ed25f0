//! From what was typed to what is asked of a study: everything checked and resolved that can be, before anything is started.

pub mod attach;
pub mod bisect;
pub mod compare;
pub mod matrix;
pub mod run;
pub mod sweep;
