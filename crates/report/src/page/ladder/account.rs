//! Accounts by kind: each kind has a look of its own.

/// Kinds of accounts with the words of the key, in the order in which the key names them.
pub(super) const KINDS: [(&str, &str); 8] = [
    ("held", "held in a kernel"),
    ("client-busy", "client on a processor"),
    ("client-waits", "client blocked or waiting for a processor"),
    ("server-busy", "server on a processor"),
    ("server-waits", "server blocked or waiting for a processor"),
    ("set-up", "setting up the connection"),
    ("network", "network, peer, wake-ups"),
    ("unexplained", "unexplained"),
];

/// The kind of an account, told from its name as the ledger gives it.
pub(super) fn kind(account: &str) -> &'static str {
    let server = account.starts_with("server ");
    let name = account.strip_prefix("server ").unwrap_or(account);
    let begins = |words: &[&str]| words.iter().any(|word| name.starts_with(word));
    if begins(&["held "]) {
        return "held";
    }
    if begins(&["name look-up", "connect", "TLS handshake"]) {
        return "set-up";
    }
    if begins(&["network", "wake-up", "waiting for a retransmission"]) {
        return "network";
    }
    if begins(&["unexplained"]) {
        return "unexplained";
    }
    match (server, begins(&["CPU"])) {
        (false, true) => "client-busy",
        (false, false) => "client-waits",
        (true, true) => "server-busy",
        (true, false) => "server-waits",
    }
}
