//! Accounts by kind: each kind has a look of its own.

use case::{Account, End};

/// Kinds of accounts with the words of the key, in the order in which the key names them.
pub(super) const KINDS: [(&str, &str); 8] = [
    ("held", "held in a kernel"),
    ("client-busy", "client on CPU"),
    ("client-waits", "client blocked or waiting for a CPU"),
    ("server-busy", "server on CPU"),
    ("server-waits", "server blocked or waiting for a CPU"),
    ("set-up", "setting up the connection"),
    ("network", "network, peer, wake-ups"),
    ("unexplained", "unexplained"),
];

/// The kind of an account.
pub(super) fn kind(account: &Account) -> &'static str {
    match account {
        Account::HeldByNagle { .. } | Account::HeldInKernel { .. } | Account::HeldAtPeer => "held",
        Account::Lookup { .. }
        | Account::Connect { .. }
        | Account::FullHandshake { .. }
        | Account::ResumedHandshake { .. } => "set-up",
        Account::NetworkAndPeer | Account::Network | Account::WakeUp { .. } | Account::Retransmission => "network",
        Account::Unexplained => "unexplained",
        Account::UserCpu { end, .. } | Account::KernelCpu { end } => match end {
            End::Client => "client-busy",
            End::Server => "server-busy",
        },
        Account::CpuOutside { .. } => "client-busy",
        Account::RunDelay { end }
        | Account::Blocked { end, .. }
        | Account::BlockedElsewhere { end }
        | Account::PageFault { end }
        | Account::Unrecorded { end } => match end {
            End::Client => "client-waits",
            End::Server => "server-waits",
        },
        Account::RunDelayOutside
        | Account::BlockedOutside { .. }
        | Account::BlockedElsewhereOutside
        | Account::PageFaultOutside
        | Account::NoRequest
        | Account::StartAndEnd
        | Account::Other => "client-waits",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_account_has_a_kind_that_the_key_names() {
        let (client, server) = (End::Client, End::Server);
        let file = "/server CPU: held by Nagle".to_string();
        let read = |end| Account::Blocked {
            end,
            call: "read".into(),
            wait: case::facts::Wait::Object,
            object: Some(case::facts::Object::File { path: Some(file.clone()) }),
        };
        let kinds = [
            (Account::HeldByNagle { end: server }, "held"),
            (Account::HeldAtPeer, "held"),
            (Account::FullHandshake { part: None }, "set-up"),
            (Account::WakeUp { end: server }, "network"),
            (Account::Retransmission, "network"),
            (Account::Unexplained, "unexplained"),
            (Account::UserCpu { end: client, module: None }, "client-busy"),
            (Account::KernelCpu { end: server }, "server-busy"),
            (read(client), "client-waits"),
            (read(server), "server-waits"),
        ];
        for (account, expected) in kinds {
            assert_eq!(kind(&account), expected, "{account:?}");
            assert!(KINDS.iter().any(|(known, _)| *known == expected));
        }
    }
}
