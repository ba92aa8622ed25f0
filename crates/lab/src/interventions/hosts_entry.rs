//! `hosts-entry`: names that resolve without DNS.

use super::{Intervention, NotHere, Prediction, Request, intervention};
use crate::intervention_counters::InterventionCounters;
use crate::treatment::{Replacement, Treatment};
use case::Recording;
use case::tables::{Lookup, direction, role};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, ToSocketAddrs};
use std::sync::mpsc;
use std::time::Duration;

/// The file that programs look into before they ask.
const HOSTS: &str = "/etc/hosts";

/// A resolver that takes longer than this for one name has its part in the finding.
const PATIENCE: Duration = Duration::from_secs(2);

/// What names made up for addresses end with; nobody has such a name (RFC 2606).
const NOBODYS: &str = "address.invalid";

/// Names that we ask for ourselves at most: each can take [`PATIENCE`].
const MOST_ASKED: usize = 4;

/// DNS, plain and encrypted: a connection there is not what a name was asked for.
const RESOLVER_PORTS: [u16; 2] = [53, 853];

intervention! {
    /// # hosts-entry
    ///
    /// ## What it does
    /// Shows the program a hosts file with an extra entry for each name it was seen looking up, with the address it
    /// then connected to, and one for each address whose name it asked for. No query is sent, so there is no answer to
    /// wait for. Where an address had a name, the program now sees a made-up one, in its log for example.
    ///
    /// ## What it reaches
    /// Programs that read the hosts file before they ask DNS: all that resolve through libc (as long as `files` comes
    /// before `dns` in nsswitch.conf), and most that have a resolver of their own (Go, c-ares, Java). Not programs that
    /// ask for records other than addresses or never open the file. A name whose address is not in the recording is
    /// looked up once, outside the measurement; if the world has a network namespace of its own, it is left out.
    ///
    /// ## How we know it took effect
    /// The kernel reports that the file was opened. Whether the program still asked DNS shows in the effect.
    pub const HOSTS_ENTRY: Intervention = Intervention {
        name: "hosts-entry",
        summary: "puts the names the program looks up into its hosts file",
        predictions: &[Prediction::gains("P31")],
        doses: &[],
        unit: "",
        stands_on: &[],
        treat,
        applied: opened,
    };
}

fn treat(request: &Request, treatment: &mut Treatment) -> Result<(), NotHere> {
    let Some(recording) = request.recording else {
        return Err(NotHere("needs a recording that shows which names are looked up".into()));
    };
    let mut entries = seen(recording);
    entries.extend(reverse(recording));
    if request.world.link.is_none() {
        ask(recording, &mut entries);
    }
    if entries.is_empty() {
        return Err(NotHere("finds no address for any name that was looked up".into()));
    }
    show(treatment, &entries.iter().map(|(name, address)| format!("{address}\t{name}\n")).collect::<String>());
    Ok(())
}

/// Shows the present file with these lines at its end.
pub(super) fn show(treatment: &mut Treatment, lines: &str) {
    let mut content = std::fs::read(HOSTS).unwrap_or_default();
    content.push(b'\n');
    content.extend(lines.as_bytes());
    treatment.replacements.push(Replacement { path: HOSTS.into(), content });
}

/// How many of the files shown were opened.
pub(super) fn opened(counters: &InterventionCounters) -> Result<u64, String> {
    match counters.replaced {
        0 => Err("the program does not read the hosts file".into()),
        opened => Ok(opened),
    }
}

/// Names with the address that their process connected to next, where it had asked for no other name in between.
fn seen(recording: &Recording) -> BTreeMap<String, IpAddr> {
    let pids: BTreeMap<u32, u32> = recording.threads.iter().map(|thread| (thread.tid, thread.pid)).collect();
    let mut entries = BTreeMap::new();
    let mut by_process: BTreeMap<u32, Vec<&Lookup>> = BTreeMap::new();
    for lookup in &recording.lookups {
        by_process.entry(pids.get(&lookup.tid).copied().unwrap_or(lookup.tid)).or_default().push(lookup);
    }
    for (pid, lookups) in by_process {
        for (index, answer) in lookups.iter().enumerate().filter(|(_, row)| is_found(row)) {
            let next = lookups[index + 1..].iter().find(|row| row.name != answer.name).map(|row| row.time);
            let connection = recording
                .connections
                .iter()
                .filter(|row| row.pid == pid && row.role == role::CLIENT && !RESOLVER_PORTS.contains(&row.remote_port));
            let after = connection.filter(|row| row.opened >= answer.time).min_by_key(|row| row.opened);
            let after = after.filter(|row| next.is_none_or(|next| row.opened < next));
            if let Some(address) = after.and_then(|row| row.remote_address.parse::<IpAddr>().ok()) {
                for name in asked_as(&lookups[..index], answer) {
                    entries.entry(name).or_insert(address);
                }
            }
        }
    }
    entries
}

/// Names made up for the addresses whose names were asked for.
fn reverse(recording: &Recording) -> BTreeMap<String, IpAddr> {
    let asked = recording.lookups.iter().filter(|row| row.direction == direction::OUT);
    let made_up = |address: IpAddr| (format!("{}.{NOBODYS}", address.to_string().replace([':', '.'], "-")), address);
    asked.filter_map(|row| address_of(&row.name)).map(made_up).collect()
}

/// The address that a question for its name spells backwards: in decimal bytes, or in hexadecimal digits (RFC 1035, RFC
/// 3596).
fn address_of(name: &str) -> Option<IpAddr> {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    if let Some(bytes) = name.strip_suffix(".in-addr.arpa") {
        let forwards: Vec<&str> = bytes.split('.').rev().collect();
        return forwards.join(".").parse::<Ipv4Addr>().ok().map(IpAddr::V4);
    }
    let digits: Vec<&str> = name.strip_suffix(".ip6.arpa")?.split('.').rev().collect();
    let number = (digits.len() == 32).then(|| u128::from_str_radix(&digits.concat(), 16).ok()).flatten()?;
    Some(IpAddr::V6(Ipv6Addr::from(number)))
}

fn is_found(row: &Lookup) -> bool {
    row.direction == direction::IN && row.code == 0 && is_plain(&row.name) && address_of(&row.name).is_none()
}

/// The names that a question may stand for: its own, and where others with the same beginning were not found just
/// before (a search list), that beginning.
fn asked_as(before: &[&Lookup], answer: &Lookup) -> Vec<String> {
    let mut names = vec![answer.name.clone()];
    let refused = before.iter().rev().take_while(|row| !is_found(row) || row.name == answer.name);
    for other in refused.filter(|row| row.direction == direction::IN && row.code == 3) {
        let pairs = answer.name.split('.').zip(other.name.split('.'));
        let common: Vec<&str> = pairs.take_while(|(one, other)| one == other).map(|(one, _)| one).collect();
        let common = common.join(".");
        if !common.is_empty() && !names.contains(&common) {
            names.push(common);
        }
    }
    names
}

/// Asks for the names of which nothing was seen.
fn ask(recording: &Recording, entries: &mut BTreeMap<String, IpAddr>) {
    let mut names: Vec<&str> =
        recording.lookups.iter().filter(|row| is_found(row)).map(|row| row.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names.retain(|name| !entries.contains_key(*name));
    for name in names.into_iter().take(MOST_ASKED) {
        if let Some(address) = resolve(name.to_string()) {
            entries.insert(name.to_string(), address);
        }
    }
}

/// The address of a name, as the host resolves it. The thread that asks is left behind where it takes too long.
fn resolve(name: String) -> Option<IpAddr> {
    let (answer, waiting) = mpsc::channel();
    std::thread::spawn(move || {
        let found = (name.as_str(), 0).to_socket_addrs().ok().and_then(|mut all| all.next());
        // Nobody waits any more: nothing to do about it.
        let _ = answer.send(found.map(|address| address.ip()));
    });
    waiting.recv_timeout(PATIENCE).ok().flatten()
}

/// Whether a name can stand in the file: what came over the network is not written down unread.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::World;
    use crate::interventions::tests::request;
    use case::Nanos;
    use case::tables::{Connection, Thread};

    fn answer(time: u64, name: &str, code: u8) -> Lookup {
        Lookup { time: Nanos(time), tid: 7, direction: direction::IN, name: name.into(), code, ..Lookup::default() }
    }

    fn connects(time: u64, address: &str, port: u16) -> Connection {
        let (opened, remote_address) = (Nanos(time), address.to_string());
        Connection { pid: 5, role: role::CLIENT, opened, remote_address, remote_port: port, ..Connection::default() }
    }

    fn entries(lookups: Vec<Lookup>, connections: Vec<Connection>) -> Vec<String> {
        let threads = vec![Thread { tid: 7, pid: 5, ..Thread::default() }];
        let recording = Recording { lookups, connections, threads, ..Recording::default() };
        seen(&recording).into_iter().map(|(name, address)| format!("{name} {address}")).collect()
    }

    #[test]
    fn a_name_has_the_address_that_was_connected_to_next() {
        let lookups = vec![answer(10, "one.test", 0), answer(30, "two.test", 0)];
        let connections =
            vec![connects(5, "10.0.0.53", 53), connects(20, "10.0.0.1", 80), connects(40, "10.0.0.2", 80)];
        assert_eq!(entries(lookups, connections), ["one.test 10.0.0.1", "two.test 10.0.0.2"]);
    }

    #[test]
    fn a_name_is_left_out_where_another_was_asked_for_before_the_connection() {
        let lookups = vec![answer(10, "one.test", 0), answer(20, "two.test", 0)];
        assert_eq!(entries(lookups, vec![connects(30, "10.0.0.2", 80)]), ["two.test 10.0.0.2"]);
    }

    #[test]
    fn a_name_from_a_search_list_is_entered_as_the_program_wrote_it_too() {
        let lookups = vec![answer(10, "db.eu.corp.test", 3), answer(20, "db.corp.test", 0)];
        assert_eq!(entries(lookups, vec![connects(30, "10.0.0.2", 80)]), ["db 10.0.0.2", "db.corp.test 10.0.0.2"]);
    }

    #[test]
    fn what_cannot_be_a_name_is_not_written_into_the_file() {
        assert!(entries(vec![answer(10, "evil\n1.2.3.4 bank", 0)], vec![connects(30, "10.0.0.2", 80)]).is_empty());
    }

    #[test]
    fn an_address_whose_name_was_asked_for_gets_a_name() {
        let asked = |name: &str| Lookup { direction: direction::OUT, name: name.into(), ..Lookup::default() };
        let six = format!("1.{}8.b.d.0.1.0.0.2.ip6.arpa", "0.".repeat(23));
        let lookups = vec![asked("7.0.0.10.in-addr.arpa"), asked(&six), asked("7.10.in-addr.arpa"), asked("one.test")];
        let found = reverse(&Recording { lookups, ..Recording::default() });
        let found: Vec<String> = found.into_iter().map(|(name, address)| format!("{name} {address}")).collect();
        assert_eq!(found, ["10-0-0-7.address.invalid 10.0.0.7", "2001-db8--1.address.invalid 2001:db8::1"]);
    }

    #[test]
    fn the_present_file_stays_and_the_entries_follow() {
        let recording = Recording {
            lookups: vec![answer(10, "one.test", 0)],
            connections: vec![connects(20, "10.0.0.1", 80)],
            threads: vec![Thread { tid: 7, pid: 5, ..Thread::default() }],
            ..Recording::default()
        };
        let world = World { link: "mtu=1500".parse().ok(), ..World::default() };
        let mut treatment = Treatment::default();
        treat(&Request { recording: Some(&recording), ..request(&world) }, &mut treatment).expect("one entry");
        let content = String::from_utf8_lossy(&treatment.replacements[0].content).into_owned();
        assert!(content.starts_with(&std::fs::read_to_string(HOSTS).unwrap_or_default()), "{content}");
        assert!(content.ends_with("10.0.0.1\tone.test\n"), "{content}");
    }

    #[test]
    fn without_a_name_there_is_nothing_to_tell() {
        let (recording, world) = (Recording::default(), World::default());
        let refused = treat(&Request { recording: Some(&recording), ..request(&world) }, &mut Treatment::default());
        assert!(refused.is_err_and(|why| why.0.contains("no address for any name")));
    }
}
