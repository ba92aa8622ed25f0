//! Worlds by their names: a Debian release, a folder, other libraries, a commit, other variables. Each becomes a tree of files
//! (and what else is particular to it) in which a subject runs, while nothing of the host is changed.

mod apt;
mod debian;
mod fetch;
mod git;
mod inside;
pub mod maker;
pub mod making;
mod mirror;
mod name;
mod needs;
mod packages;
mod prepare;
mod ready;
pub(crate) mod refusal;
mod sandbox;
mod script;
pub(crate) mod shared;
pub(crate) mod store;
mod tool;

/// A door for fuzzers: any text.
pub(crate) fn fuzz(text: &str) {
    packages::fuzz(text);
    mirror::fuzz(text);
}

pub use apt::{Installed, install_over};
pub use fetch::{Fetched, fetch, versions};
pub use git::{Commit, Repository};
pub use name::WorldName;
pub use packages::{Package, Packages};
pub use prepare::{Wanted, prepare};
pub use ready::Ready;
pub use store::{Descriptor, Made, Store};
