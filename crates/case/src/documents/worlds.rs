//! What `world` lists, makes and removes.

use schemars::JsonSchema;
use serde::Serialize;

/// The version of the document.
const SCHEMA: u32 = 1;

/// Worlds that are kept, were made, or were removed.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Worlds {
    /// The version of this format.
    schema: u32,
    /// The folder where worlds are kept.
    pub cache: String,
    /// The worlds: all that are kept (`list`), the one that was made (`make`), those that were removed (`remove`).
    pub worlds: Vec<WorldEntry>,
}

/// A world.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WorldEntry {
    /// Its name in the list, or as given if it is not kept.
    pub name: String,
    /// The folder that holds its files.
    pub folder: String,
    /// What it is: a Debian release, or a sentence.
    pub title: String,
    /// How many packages it has.
    pub packages: usize,
    /// Its size in bytes; 0 if whyslow does not keep it.
    pub bytes: u64,
    /// When it was made, in seconds since 1970; 0 if whyslow does not keep it.
    pub made: u64,
    /// Whether it is unchanged since it was made. One that is not is never used.
    pub is_unchanged: bool,
}

impl Worlds {
    /// Worlds of a cache.
    pub fn of(cache: String, worlds: Vec<WorldEntry>) -> Worlds {
        Worlds { schema: SCHEMA, cache, worlds }
    }
}
