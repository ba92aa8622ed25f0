//! The commands, one a file. Each takes what was typed and returns the exit code.

pub mod answer;
pub mod attach;
pub mod bisect;
pub mod compare;
pub mod completions;
pub mod doctor;
pub mod explain;
pub mod man;
pub mod matrix;
pub mod reference;
pub mod report;
pub mod run;
pub mod schema;
pub mod story;
pub mod sweep;
pub mod tables;
pub mod trial;
pub mod undo;
pub mod world;
