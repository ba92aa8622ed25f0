//! Versions of a library built from their sources, side by side.
//!
//! A [`Source`] says where a library's versions are and how one is built. A [`Workshop`] fetches and builds them, each into a
//! prefix of its own. [`linkage`] proves that a subject really runs on what was built, [`measure`] runs it on every
//! version in turns, and [`advice`] says which one to take.

pub mod advice;
mod build;
mod builder;
mod download;
mod elf;
mod factorial;
mod figures;
mod kept;
pub mod linkage;
mod measure;
mod order;
mod pins;
mod prefix;
mod problem;
mod process;
mod recipe;
mod registry;
mod release;
mod source;
mod trial;
mod tried;
mod version;
mod workshop;

pub use factorial::{Factorial, Versus};
pub use figures::{figures, ratios};
pub use measure::{Measured, Terms, measure};
pub use order::{Item, chain};
pub use prefix::Prefix;
pub use problem::{Fault, Problem};
pub use registry::Registry;
pub use release::Release;
pub use source::{BuildStep, Source, Sources};
pub use trial::Run;
pub use tried::tried;
pub use version::{nearest, older_first};
pub use workshop::{Built, Workshop};
