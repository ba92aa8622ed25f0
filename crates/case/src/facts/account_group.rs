//! Groups of accounts: for one sentence about the whole.

use super::end::End;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What accounts have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AccountGroup {
    /// The client on CPU.
    ClientCpu,
    /// The server on CPU.
    ServerCpu,
    /// Runnable, waiting for a CPU, at either end.
    RunDelay,
    /// The client blocked in something of its own.
    ClientBlocked,
    /// The server blocked in something of its own.
    ServerBlocked,
    /// Setting up connections.
    SetUp,
    /// Bytes held in a kernel.
    Held,
    /// The network, and a peer that was not recorded.
    NetworkAndPeer,
    /// The network between recorded ends, retransmissions and wake-ups.
    Network,
    /// The client, in something that a capture of the wire does not show.
    Client,
    /// The server, in something that a capture of the wire does not show.
    Server,
    /// Unexplained, or before and after everything that was recorded.
    #[default]
    Other,
}

impl AccountGroup {
    /// Whether an end was blocked in something of its own.
    pub fn is_blocked(self) -> bool {
        matches!(self, AccountGroup::ClientBlocked | AccountGroup::ServerBlocked)
    }

    /// Whether it is a wait, for whatever: neither work nor what nobody knows.
    pub fn is_wait(self) -> bool {
        self.is_blocked()
            || matches!(
                self,
                AccountGroup::RunDelay
                    | AccountGroup::SetUp
                    | AccountGroup::Held
                    | AccountGroup::NetworkAndPeer
                    | AccountGroup::Network
            )
    }

    /// At which end the time passed; none where that is neither's, or both's.
    pub fn end(self) -> Option<End> {
        match self {
            AccountGroup::ClientCpu | AccountGroup::ClientBlocked | AccountGroup::Client => Some(End::Client),
            AccountGroup::ServerCpu | AccountGroup::ServerBlocked | AccountGroup::Server => Some(End::Server),
            _ => None,
        }
    }
}
