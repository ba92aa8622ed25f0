//! What keeps a matrix from being built.

use lab::matrix::Problem;
use std::path::PathBuf;
use thiserror::Error;

/// Why the versions of a library cannot be had.
#[derive(Debug, Error)]
pub enum MatrixError {
    /// Libraries or versions that cannot be built on each other, or that leave nothing to compare.
    #[error("{0}")]
    Libraries(String),
    /// A library that nobody has said how to build.
    #[error("no source for `{library}`")]
    UnknownLibrary {
        /// Its name.
        library: String,
        /// Those that can be built.
        known: Vec<String>,
    },
    /// A file that does not say how a library is built.
    #[error("{}: {why}", file.display())]
    Source {
        /// The file.
        file: PathBuf,
        /// Why.
        why: String,
    },
    /// A version that the registry does not have.
    #[error("there is no {library} {version} in the registry")]
    UnknownVersion {
        /// The library's name.
        library: String,
        /// The package that carries it.
        package: String,
        /// The version.
        version: String,
        /// Those next to it.
        nearest: Vec<String>,
    },
    /// The registry does not say which versions there are.
    #[error("cannot list versions from the registry")]
    Registry(Problem),
    /// Programs that building takes are not there: each with the package that it is in.
    #[error("build tools are missing")]
    Tools(Vec<(String, String)>),
}
