//! What an account means, in one sentence by its kind, and the look of that kind.

use case::facts::{Object, Wait};
use case::{Account, End};

/// The class of the look of what is no account that is known, or several.
const OTHER: &str = "other";

/// The class of the look of an account, or of several small ones.
pub(super) fn class(account: Option<&Account>) -> String {
    account.map_or_else(|| OTHER.to_string(), class_of)
}

/// The class of an account's colour and pattern; what is at the server has a colour of its own.
fn class_of(account: &Account) -> String {
    let class = match account {
        // What a captured end did is not seen: computing, as far as anybody knows.
        Account::UserCpu { .. } | Account::KernelCpu { .. } | Account::Unrecorded { .. } => "processor",
        Account::CpuOutside { .. } => "processor outside",
        Account::RunDelay { .. } | Account::RunDelayOutside | Account::WakeUp { .. } => "waiting",
        Account::Blocked { .. }
        | Account::BlockedOutside { .. }
        | Account::BlockedElsewhere { .. }
        | Account::BlockedElsewhereOutside
        | Account::PageFaultOutside
        | Account::PageFault { .. } => "blocked",
        Account::Lookup { .. }
        | Account::Connect { .. }
        | Account::FullHandshake { .. }
        | Account::ResumedHandshake { .. } => "setup",
        Account::HeldByNagle { .. } | Account::HeldInKernel { .. } | Account::HeldAtPeer | Account::Retransmission => {
            "held"
        }
        Account::NetworkAndPeer | Account::Network => "network",
        Account::Unexplained => "unexplained",
        Account::NoRequest | Account::StartAndEnd | Account::Other => OTHER,
    };
    if account.end() == Some(End::Server) { format!("{class} server") } else { class.to_string() }
}

/// What an account means, and at which end; empty where that is not known.
pub(super) fn sentence(account: &Account) -> String {
    let sentence = of_kind(account);
    match account {
        Account::Lookup { part: Some(part) }
        | Account::Connect { part: Some(part) }
        | Account::FullHandshake { part: Some(part) }
        | Account::ResumedHandshake { part: Some(part) } => format!("{sentence} {}", self::sentence(part)),
        _ if account.end() == Some(End::Server) => format!("At the server. {sentence}"),
        Account::RunDelayOutside
        | Account::BlockedOutside { .. }
        | Account::BlockedElsewhereOutside
        | Account::PageFaultOutside => {
            format!("{sentence} No request was in flight meanwhile.")
        }
        _ => sentence.to_string(),
    }
}

fn of_kind(account: &Account) -> &'static str {
    match account {
        Account::UserCpu { .. } => "A thread was on CPU, in the code of this library or program.",
        Account::KernelCpu { .. } => "A thread was on CPU, in the kernel: system calls and what they do.",
        Account::CpuOutside { .. } => "The program was on CPU, in this code, while no request was in flight.",
        Account::RunDelay { .. } | Account::RunDelayOutside => {
            "A thread was ready to run, but every CPU that it may use was busy with something else."
        }
        Account::WakeUp { .. } => "Data had arrived, but the thread that waited for it was not running yet.",
        Account::Blocked { object: Some(Object::Awaited { .. }), .. }
        | Account::BlockedOutside { object: Some(Object::Awaited { .. }), .. } => {
            "A thread waited, and this one ended the wait, or was waited for by the one that did; what it did meanwhile is said with it."
        }
        Account::Blocked { object: Some(Object::TimeOut), .. }
        | Account::BlockedOutside { object: Some(Object::TimeOut), .. } => {
            "A thread waited, and nobody ended that before the time it had set was over."
        }
        Account::Blocked { wait, .. } | Account::BlockedOutside { wait, .. } => of_wait(*wait),
        Account::BlockedElsewhere { .. } | Account::BlockedElsewhereOutside => {
            "A thread waited in a kind of system call that is not recorded one by one."
        }
        Account::PageFault { .. } | Account::PageFaultOutside => {
            "A thread waited for the disk outside of system calls, usually for a page to be read."
        }
        Account::Lookup { .. } => "A name had to be turned into an address.",
        Account::Connect { .. } => "A connection was being opened.",
        Account::FullHandshake { .. } | Account::ResumedHandshake { .. } => {
            "Both ends agreed on keys before the request could be sent."
        }
        Account::HeldByNagle { .. } => {
            "Data had been written, but the sender's kernel held it until the peer acknowledged what was sent \
             before."
        }
        Account::HeldInKernel { .. } => {
            "Data had been written and waited in the sender's kernel for room in the window or in a queue."
        }
        Account::HeldAtPeer => "The peer held data until this end acknowledged what it had sent before.",
        Account::Retransmission => "A segment was lost, and it took this long to retransmit it.",
        Account::NetworkAndPeer => {
            "The request was sent and no response had arrived: the network, and a peer that was not recorded."
        }
        Account::Network => "Data was in flight between the two recorded ends.",
        Account::Unrecorded { .. } => {
            "The next bytes were to come from the program at this end; in what it was meanwhile, a capture does not show."
        }
        Account::NoRequest => "No request was under way; what the programs did meanwhile, a capture does not show.",
        Account::StartAndEnd => "Before the program's first recorded event, and after its last.",
        Account::Unexplained => "No account explains this time. It is shown so that no other account hides it.",
        Account::Other => "",
    }
}

fn of_wait(wait: Wait) -> &'static str {
    match wait {
        Wait::Sleep => "A thread slept for a time that the program chose.",
        Wait::Lock => "A thread waited for a lock, or for another thread to finish something.",
        Wait::Child | Wait::Events | Wait::Object => "A thread waited in this system call.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocked(end: End, wait: Wait) -> Account {
        let path = Some("/srv/network/CPU".to_string());
        Account::Blocked { end, call: "read".into(), wait, object: Some(Object::File { path }) }
    }

    #[test]
    fn an_account_means_what_its_kind_means_whatever_a_path_is_called() {
        let nginx = Account::UserCpu { end: End::Server, module: Some("nginx".into()) };
        assert!(sentence(&nginx).starts_with("At the server. A thread was on CPU"));
        assert_eq!(sentence(&blocked(End::Client, Wait::Object)), "A thread waited in this system call.");
        assert!(sentence(&Account::RunDelayOutside).ends_with("No request was in flight meanwhile."));
        assert_eq!(sentence(&Account::Other), "");
    }

    #[test]
    fn each_account_has_its_look() {
        let (client, server, module) = (End::Client, End::Server, None);
        let looks = [
            (Account::UserCpu { end: client, module: module.clone() }, "processor"),
            (Account::KernelCpu { end: server }, "processor server"),
            (Account::CpuOutside { module }, "processor outside"),
            (Account::RunDelay { end: server }, "waiting server"),
            (Account::RunDelayOutside, "waiting"),
            (Account::WakeUp { end: client }, "waiting"),
            (blocked(client, Wait::Lock), "blocked"),
            (blocked(server, Wait::Sleep), "blocked server"),
            (Account::BlockedElsewhere { end: server }, "blocked server"),
            (Account::BlockedElsewhereOutside, "blocked"),
            (Account::PageFault { end: client }, "blocked"),
            (Account::PageFaultOutside, "blocked"),
            (Account::Lookup { part: None }, "setup"),
            (Account::Connect { part: None }, "setup"),
            (Account::FullHandshake { part: None }, "setup"),
            (Account::ResumedHandshake { part: None }, "setup"),
            (Account::HeldByNagle { end: client }, "held"),
            (Account::HeldInKernel { end: server }, "held server"),
            (Account::HeldAtPeer, "held"),
            (Account::Retransmission, "held"),
            (Account::NetworkAndPeer, "network"),
            (Account::Network, "network"),
            (Account::StartAndEnd, "other"),
            (Account::Unexplained, "unexplained"),
            (Account::Other, "other"),
        ];
        for (account, look) in looks {
            assert_eq!(class(Some(&account)), look, "{account:?}");
        }
    }
}
