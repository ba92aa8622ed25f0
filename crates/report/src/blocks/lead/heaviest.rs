//! The sentence about what the user waits for most: how much of it, what it is, and where.

use crate::activity;
use crate::blocks::series::rate;
use crate::blocks::waits::{ended_by, who};
use crate::located::in_sentence;
use crate::request_kind::request_kind;
use crate::text::clean;
use case::facts::Wait;
use case::{
    Account, AccountGroup, Activity, Answer, Bytes, End, Ender, Heaviest, KernelWork, Nanos, NetworkPath, Share,
    WaitNode,
};

/// What has this share of something is not told from all of it.
const ALL: f64 = 0.97;

/// An account that holds half of its group or more stands for it.
const MOST: f64 = 0.5;

/// `90 % of each 45.1 ms request is the server waiting for a lock or another thread (futex), server.py:14 in answer`.
pub(super) fn sentence(heaviest: &Heaviest, answer: &Answer) -> String {
    let of = Nanos(heaviest.of_ns);
    let of = match (answer.exchanges, answer.subject_exit) {
        (0, Some(_)) => format!("the {of} run"),
        (0, None) => format!("the {of} watched"),
        (1, _) => format!("the one request's {of}"),
        _ => format!("each {of} request"),
    };
    // Where the client waits for somebody else, an address in a library says nothing of it.
    let is_known = heaviest.group != AccountGroup::NetworkAndPeer || heaviest.place.iter().any(|one| one.line > 0);
    let place = if is_known { in_sentence(&heaviest.place, heaviest.place_share) } else { String::new() };
    let what = match node_of(heaviest, answer).filter(|node| is_timed_out(node)) {
        Some(node) => format!("the {} {}", heaviest.group.end().unwrap_or(End::Client), activity::untimed(node)),
        None => what(heaviest),
    };
    let asking = node_of(heaviest, answer).map(activity::asking).unwrap_or_default();
    let serving = serving(heaviest, answer).unwrap_or_default();
    format!("{} of {of} is {what}{asking}{place}{serving}.{}", Share(heaviest.share()), followed(heaviest, answer))
}

/// The same in a headline: `83 % of each request is the network between client and server with 10.77.0.2:8438`.
pub(crate) fn in_brief(heaviest: &Heaviest, answer: &Answer) -> String {
    let of = if answer.exchanges == 0 { "the run" } else { "each request" };
    format!("{} of {of} is {}", Share(heaviest.share()), what(heaviest))
}

/// Whom those wait for who are blocked, and what these do meanwhile, as far as it is known: ` It waits for another thread, which
/// is asleep (clock_nanosleep), 50.0 ms each time, lock.py:31 in flush.` Empty where nothing is.
fn followed(heaviest: &Heaviest, answer: &Answer) -> String {
    match heaviest.group {
        AccountGroup::SetUp => return most_waits_for(answer),
        AccountGroup::NetworkAndPeer if !answer.is_of_capture() => {
            return " Record the server, too (--server, or whyslow attach there), to look inside.".into();
        }
        AccountGroup::Network => return heaviest.path.as_ref().map_or(String::new(), |one| path(one, answer)),
        _ => (),
    }
    let Some(mut node) = node_of(heaviest, answer) else { return String::new() };
    let mut said = String::new();
    for subject in ["It", "That one in turn", "That one in turn"] {
        if let Some(by) = node.mostly_ended_by() {
            match by {
                Ender::Timer if !is_sleep(&node.activity) => said += &timed_out(node, subject),
                Ender::Peer { .. } | Ender::NewConnection if node.waits_for.is_empty() => {
                    said += &format!(" {subject} waits for {}.", ended_by(by));
                }
                _ => (),
            }
            break;
        }
        let most = node.waits_for.iter().max_by_key(|next| next.ns).filter(|next| next.ns * 2 >= node.ns);
        let Some(next) = most.filter(|next| next.activity != Activity::RunDelay) else {
            said += &busy(node, subject);
            break;
        };
        let place = in_sentence(&next.place, next.place_share);
        said += &format!(" {subject} waits for {}, which is {}{place}.", who(next, Some(node)), activity::of(next));
        node = next;
    }
    said
}

/// What the network takes and carries: ` A round trip takes 10.2 ms; half of the requests move 441 kB or more, at 19.4 Mbit/s.`
fn path(path: &NetworkPath, answer: &Answer) -> String {
    let round_trip = format!(" A round trip takes {}", Nanos(path.round_trip_ns));
    let bytes = Bytes(path.bytes);
    let moved = match answer.exchanges {
        1 => format!("the request moves {bytes}"),
        _ => format!("half of the requests move {bytes} or more"),
    };
    path.bits_per_second
        .map_or_else(|| format!("{round_trip}."), |bits| format!("{round_trip}; {moved}, at {}.", rate(bits)))
}

/// Whom most of the time is waited for in the end, where nothing is said of it otherwise: ` Most of it waits for the server
/// python3, which is asleep (clock_nanosleep), 30.0 ms each time, server.py:4 in choose.`
fn most_waits_for(answer: &Answer) -> String {
    let Some(tree) = &answer.waits else { return String::new() };
    let branch = tree.main_branch();
    let Some(last) = branch.last().filter(|last| branch.len() > 1 && last.ns * 2 >= tree.of_ns) else {
        return String::new();
    };
    let waits = branch.first().copied();
    let place = in_sentence(&last.place, last.place_share);
    format!(" Most of it waits for {}, which is {}{place}.", who(last, waits), activity::of(last))
}

fn node_of<'a>(heaviest: &Heaviest, answer: &'a Answer) -> Option<&'a WaitNode> {
    let tree = answer.waits.as_ref()?;
    tree.nodes().filter(|node| is_of(node, heaviest)).max_by_key(|node| node.ns)
}

/// Nobody ended it: how long that takes, and what was put off until then.
fn timed_out(node: &WaitNode, subject: &str) -> String {
    let each = if node.regular { " each time" } else { "" };
    let then = in_sentence(&node.then, None);
    let then = then.strip_prefix(", ").map(|place| format!(", and the program goes on at {place}"));
    let which = if subject == "It" { "that wait" } else { "the wait of that one" };
    format!(" Nobody ends {which}: it times out after {}{each}{}.", Nanos(node.usual_ns), then.unwrap_or_default())
}

/// Those that a wait is for who are on a CPU or wait for one, where they are most of it together: busy, whatever a crowded
/// machine lets them do of it.
fn busy(node: &WaitNode, subject: &str) -> String {
    let is_busy = |next: &&WaitNode| matches!(next.activity, Activity::OnCpu | Activity::RunDelay);
    let of =
        |kind: &Activity| node.waits_for.iter().filter(|next| next.activity == *kind).map(|next| next.ns).sum::<u64>();
    let (on_cpu, delayed) = (of(&Activity::OnCpu), of(&Activity::RunDelay));
    let on = node.waits_for.iter().filter(|next| next.activity == Activity::OnCpu).max_by_key(|next| next.ns);
    let (Some(on), true) = (on, (on_cpu + delayed) * 2 >= node.ns) else { return String::new() };
    if node.waits_for.iter().filter(is_busy).any(|next| who(next, Some(node)) != who(on, Some(node))) {
        return String::new();
    }
    let part = |ns: u64| Share(ns as f64 / node.ns.max(1) as f64);
    format!(
        " {subject} waits for {}, which is on CPU ({}{}) or waiting for one ({}).",
        who(on, Some(node)),
        part(on_cpu),
        in_sentence(&on.place, on.place_share),
        part(delayed)
    )
}

/// Whether a node of the tree is what the account is of.
fn is_of(node: &WaitNode, heaviest: &Heaviest) -> bool {
    let (Account::Blocked { call, .. } | Account::BlockedOutside { call, .. }) = &heaviest.account else {
        return false;
    };
    let same_call = matches!(&node.activity, Activity::Blocked { call: other, .. } if other == call);
    same_call && node.place.first() == heaviest.place.first()
}

/// Whether nobody ended most of its waits, and it is no sleep, which says so itself.
fn is_timed_out(node: &WaitNode) -> bool {
    node.mostly_ended_by() == Some(&Ender::Timer) && !is_sleep(&node.activity)
}

/// Which requests the server's time on CPU is for, where that is one kind.
fn serving(heaviest: &Heaviest, answer: &Answer) -> Option<String> {
    let kind = answer.queue.as_ref()?.mostly().filter(|_| heaviest.group == AccountGroup::ServerCpu)?;
    let words = request_kind(&kind.kind, true);
    Some(if kind.share >= ALL {
        format!(", serving {words}")
    } else {
        format!(", {} of that serving {words}", Share(kind.share))
    })
}

fn is_sleep(activity: &Activity) -> bool {
    matches!(activity, Activity::Blocked { wait: Wait::Sleep, .. })
}

fn what(heaviest: &Heaviest) -> String {
    let peer = heaviest.peer.as_deref().map(clean);
    let with = peer.as_deref().map(|peer| format!(" with {peer}")).unwrap_or_default();
    let stands = heaviest.share_of_group >= MOST;
    match heaviest.group {
        AccountGroup::ClientCpu => format!("the client on CPU{}", mostly(heaviest)),
        AccountGroup::ServerCpu => format!("the server on CPU{}", mostly(heaviest)),
        AccountGroup::RunDelay => "waiting for a CPU".into(),
        AccountGroup::ClientBlocked | AccountGroup::ServerBlocked => blocked(heaviest),
        AccountGroup::SetUp => match heaviest.account {
            Account::Lookup { .. } if stands => "name look-up".into(),
            Account::Connect { .. } if stands => format!("connecting{}", with.replace(" with ", " to ")),
            Account::FullHandshake { .. } if stands => format!("full TLS handshakes{with}"),
            Account::ResumedHandshake { .. } if stands => format!("resumed TLS handshakes{with}"),
            _ => format!("setting up connections{with}"),
        },
        AccountGroup::Held => match heaviest.account {
            Account::HeldByNagle { end } if stands => format!("the {end}'s bytes held by Nagle's algorithm"),
            Account::HeldAtPeer if stands => "bytes the peer holds until a delayed ACK".into(),
            _ => "bytes held back in a kernel before they left".into(),
        },
        AccountGroup::NetworkAndPeer => {
            format!("the network and {}, which was not recorded", peer.as_deref().unwrap_or("the peer"))
        }
        AccountGroup::Network => match heaviest.account {
            Account::Retransmission if stands => format!("waiting for lost segments to be sent again{with}"),
            _ => format!("the network between client and server{with}"),
        },
        AccountGroup::Client => "the client itself".into(),
        AccountGroup::Server => "the server itself".into(),
        AccountGroup::Other => "unexplained".into(),
    }
}

/// In what most of the CPU time was spent.
fn mostly(heaviest: &Heaviest) -> String {
    let module = match &heaviest.account {
        Account::CpuOutside { module: Some(module) } if module == "kernel" => "the kernel".into(),
        Account::UserCpu { module: Some(module), .. } | Account::CpuOutside { module: Some(module) } => clean(module),
        Account::KernelCpu { .. } => "the kernel".into(),
        _ => return String::new(),
    };
    let part = heaviest.kernel.map(|part| format!(" ({} of which in {})", Share(part.share), kernel_work(part.work)));
    let part = part.unwrap_or_default();
    if heaviest.share_of_group >= MOST {
        format!(", mostly in {module}{part}")
    } else {
        format!(", {} of that in {module}{part}", Share(heaviest.share_of_group))
    }
}

fn kernel_work(work: KernelWork) -> &'static str {
    match work {
        KernelWork::PacketFilters => "packet filters",
        KernelWork::CallFilters => "system-call filters",
        KernelWork::Reclaim => "memory reclaim",
        KernelWork::Copies => "forks",
        KernelWork::Starts => "starting programs",
        KernelWork::GivesBack => "unmapping memory",
        KernelWork::Faults => "page faults",
        KernelWork::Files => "path look-ups",
        KernelWork::Other => "something this version of whyslow cannot name",
    }
}

/// What the largest of the things that an end was blocked in is.
fn blocked(heaviest: &Heaviest) -> String {
    let end = heaviest.group.end().unwrap_or(End::Client);
    let waiting = match &heaviest.account {
        Account::Blocked { call, wait, object, .. } | Account::BlockedOutside { call, wait, object } => {
            activity::blocked(call, *wait, object.as_ref())
        }
        Account::PageFault { .. } => "waiting for a disk outside calls".into(),
        _ => "blocked outside recorded calls".into(),
    };
    format!("the {end} {waiting}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::answer as examples;
    use case::{KernelPart, Place, PlaceShare};

    fn lock() -> Heaviest {
        let end = End::Server;
        Heaviest {
            group: AccountGroup::ServerBlocked,
            ns: 40_500_000,
            of_ns: 45_000_000,
            account: Account::Blocked { end, call: "futex".into(), wait: Wait::Lock, object: None },
            share_of_group: 0.98,
            place: vec![Place {
                function: "answer".into(),
                file: "/srv/server.py".into(),
                line: 14,
                ..Place::default()
            }],
            place_share: Some(PlaceShare { share: 0.97, others: 0 }),
            ..Heaviest::default()
        }
    }

    #[test]
    fn a_lock_is_named_with_its_place_in_few_words() {
        let said = sentence(&lock(), &examples::slow());
        let wanted = "90 % of each 45.0 ms request is the server waiting for a lock or another thread (futex), \
                      server.py:14 in answer.";
        assert_eq!(said, wanted);
        assert!(said.split_whitespace().count() < 25);
    }

    #[test]
    fn a_peer_that_was_not_recorded_is_named() {
        let heaviest = Heaviest {
            group: AccountGroup::NetworkAndPeer,
            account: Account::NetworkAndPeer,
            peer: Some("192.0.2.1:443".into()),
            place: Vec::new(),
            ..lock()
        };
        let said = sentence(&heaviest, &examples::slow());
        assert!(said.contains("is the network and 192.0.2.1:443, which was not recorded. Record the server"), "{said}");
    }

    #[test]
    fn a_module_stands_for_the_time_on_cpu() {
        let account = Account::UserCpu { end: End::Client, module: Some("libz.so.1".into()) };
        let heaviest = Heaviest { group: AccountGroup::ClientCpu, account, place: Vec::new(), ..lock() };
        assert!(sentence(&heaviest, &examples::slow()).ends_with("the client on CPU, mostly in libz.so.1."));
        let split = Heaviest { share_of_group: 0.4, ..heaviest };
        assert!(sentence(&split, &examples::slow()).ends_with("the client on CPU, 40 % of that in libz.so.1."));
        let kernel = Some(KernelPart { work: KernelWork::Copies, share: 0.54 });
        let kernel = Heaviest { account: Account::KernelCpu { end: End::Client }, kernel, ..split };
        let wanted = "the client on CPU, 40 % of that in the kernel (54 % of which in forks).";
        assert!(sentence(&kernel, &examples::slow()).ends_with(wanted));
    }
}
