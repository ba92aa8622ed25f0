//! Accounts of files that were written when an account had only its name: the names of that format, read back here and
//! nowhere else.

use super::{Account, Object, Transport, Wait};
use crate::facts::End;

/// What accounts of run delay were called.
const WAITING: &str = "waiting for a processor";
/// What they are called now.
const WAITING_NOW: &str = "waiting for a CPU";
/// What accounts of the time without a request were called.
const OUTSIDE: &str = "outside exchanges";
/// What they are called now.
const OUTSIDE_NOW: &str = "between requests";

impl Account {
    /// The account that an older file names so; [`Account::Other`] where none is.
    pub fn from_name(name: &str) -> Account {
        let today = name.replacen(WAITING, WAITING_NOW, 1).replacen(OUTSIDE, OUTSIDE_NOW, 1);
        let name = today.as_str();
        if let Some(account) = fixed().into_iter().find(|account| account.name() == name) {
            return account;
        }
        if let Some(module) = name.strip_prefix("CPU between requests: ") {
            return Account::CpuOutside { module: Some(module.to_string()) };
        }
        if let Some((call, wait, object)) = name.strip_prefix("between requests: ").and_then(blocked) {
            return Account::BlockedOutside { call, wait, object };
        }
        let (end, rest) = match name.strip_prefix("server ") {
            Some(rest) => (End::Server, rest),
            None => (End::Client, name),
        };
        if let Some(module) = rest.strip_prefix("CPU: user, ") {
            return Account::UserCpu { end, module: Some(module.to_string()) };
        }
        // Of a comparison without exchanges, which left out that it was outside of them.
        if let Some(module) = name.strip_prefix("CPU: ") {
            return Account::CpuOutside { module: Some(module.to_string()) };
        }
        blocked(rest).map_or(Account::Other, |(call, wait, object)| Account::Blocked { end, call, wait, object })
    }
}

/// Those whose names are always the same.
fn fixed() -> Vec<Account> {
    let of_an_end = |end| {
        [
            Account::UserCpu { end, module: None },
            Account::KernelCpu { end },
            Account::RunDelay { end },
            Account::BlockedElsewhere { end },
            Account::PageFault { end },
            Account::HeldByNagle { end },
            Account::HeldInKernel { end },
            Account::WakeUp { end },
        ]
    };
    let of_no_end = [
        Account::Lookup { part: None },
        Account::Connect { part: None },
        Account::FullHandshake { part: None },
        Account::ResumedHandshake { part: None },
        Account::HeldAtPeer,
        Account::Retransmission,
        Account::NetworkAndPeer,
        Account::Network,
        Account::CpuOutside { module: None },
        Account::RunDelayOutside,
        Account::BlockedElsewhereOutside,
        Account::PageFaultOutside,
        Account::StartAndEnd,
        Account::Unexplained,
    ];
    of_an_end(End::Client).into_iter().chain(of_an_end(End::Server)).chain(of_no_end).collect()
}

/// The call, what it waited for and what it was about.
fn blocked(name: &str) -> Option<(String, Wait, Option<Object>)> {
    if let Some(call) = name.strip_prefix("asleep in ") {
        return Some((call.to_string(), Wait::Sleep, None));
    }
    let rest = name.strip_prefix("blocked in ")?;
    if let Some(call) = rest.strip_suffix(": waiting for a child") {
        return Some((call.to_string(), Wait::Child, None));
    }
    let Some((call, bracket)) = rest.strip_suffix(')').and_then(|rest| rest.split_once(" (")) else {
        return Some((rest.to_string(), Wait::Object, None));
    };
    let (wait, object) = match bracket {
        "a lock or another thread" => (Wait::Lock, None),
        "other events" => (Wait::Events, None),
        _ => (Wait::Object, Some(object(bracket))),
    };
    Some((call.to_string(), wait, object))
}

fn object(bracket: &str) -> Object {
    let transports = [Transport::Tcp, Transport::Udp, Transport::Unix, Transport::Other];
    let of_socket = bracket.strip_suffix(" socket");
    if let Some(transport) = transports.into_iter().find(|one| of_socket == Some(one.name())) {
        return Object::Socket { transport };
    }
    match (bracket, bracket.strip_prefix("to ")) {
        ("a file", _) => Object::File { path: None },
        (_, Some("a client")) => Object::Client,
        (_, Some("a local socket")) => Object::Connection { remote: None },
        (_, Some(remote)) => Object::Connection { remote: Some(remote.to_string()) },
        (path, None) => Object::File { path: Some(path.to_string()) },
    }
}
