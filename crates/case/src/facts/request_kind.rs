//! Which requests are told apart.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Requests that are alike.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum RequestKind {
    /// By what is asked for, in HTTP that could be read.
    Http {
        /// The method.
        method: String,
        /// The path, numbers in it replaced by `:n`, without its query.
        path: String,
    },
    /// By the command, in a protocol that has such words and could be read: RESP, SQL.
    Command {
        /// The word, in capitals; of a statement with the first table that it names.
        name: String,
    },
    /// By the line of the client's code that asks.
    AskedBy {
        /// Its source file; empty if unknown.
        file: String,
        /// Its line; 0 if unknown.
        line: u32,
        /// Its function, or a module and an offset.
        function: String,
    },
    /// Nothing is known of them.
    #[default]
    #[serde(other)]
    Any,
}
