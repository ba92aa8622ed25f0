//! The two ends of an exchange.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Which end of an exchange somebody is at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// The one that asks.
    #[default]
    Client,
    /// The one that answers.
    Server,
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
