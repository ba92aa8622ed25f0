//! The two ends of an exchange.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// An end of an exchange.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// The client: the one that asks.
    #[default]
    Client,
    /// The server: the one that answers.
    Server,
}

impl End {
    /// The one at the other side of the connection.
    #[must_use]
    pub fn other(self) -> End {
        match self {
            End::Client => End::Server,
            End::Server => End::Client,
        }
    }
}

impl fmt::Display for End {
    /// `client` or `server`, as in JSON.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            End::Client => "client",
            End::Server => "server",
        })
    }
}
