//! Worlds by their names: a Debian release, a folder, other libraries, a commit, other variables. Each becomes a tree of files
//! (and what else is particular to it) in which a subject runs, while nothing of the host is changed.

mod git;
mod name;
mod ready;

pub use git::{Commit, Repository};
pub use name::WorldName;
pub use ready::Ready;
