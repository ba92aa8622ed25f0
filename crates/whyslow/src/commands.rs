//! The commands, one a file. Each takes what was typed and returns the exit code.

pub mod completions;
pub mod doctor;
pub mod explain;
pub mod feeds;
pub mod load;
pub mod logs;
pub mod man;
pub mod reference;
pub mod report;
pub mod schema;
pub mod steps;
pub mod story;
pub mod study;
pub mod tables;
pub mod trial;
pub mod undo;
pub mod watch;
pub mod world;
