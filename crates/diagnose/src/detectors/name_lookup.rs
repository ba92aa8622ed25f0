//! P31: names take long to look up, or are looked up too often.

use super::{Found, detector, median, rows};
use crate::evidence::{Evidence, Toll};
use case::Nanos;
use case::tables::{Lookup, direction};
use std::collections::BTreeMap;

detector! {
    /// # name-lookup
    ///
    /// ## What it is
    /// Before it can connect, a program waits for an address: a resolver does not answer and the query is repeated
    /// after 5 s, a search list asks for many names that do not exist, the same name is asked for before every
    /// request, or the resolver is slow.
    ///
    /// ## Evidence
    /// DNS messages and the time between them: queries without an answer for a second or more, names answered with
    /// 'no such name' before the right one, the same question five times or more, a median answer after 100 ms.
    ///
    /// ## What proves it
    /// An entry in the hosts file, or ndots:1 and single-request as resolver options: the wait vanishes.
    ///
    /// ## Remedy
    /// Remove the resolver that does not answer; write names with a dot at the end or set ndots:1; keep addresses (a
    /// caching resolver on the host) and connections.
    ///
    /// ## Not to be confused with
    /// dead-ipv6 (the address is there, connecting to it fails), connection-churn (each connection asks again).
    "P31" "name-lookup"
}

/// Resolvers answer in milliseconds; glibc repeats after 5 s, others after 1 s.
const UNANSWERED: u64 = 1_000_000_000;

/// A resolver slower than this is slow wherever it stands.
const SLOW: u64 = 100_000_000;

/// A and AAAA, once and again by chance, are four; five times the same question is no caching.
const REPEATED: usize = 5;

/// What the messages show.
#[derive(Default)]
struct Messages {
    queries: usize,
    unanswered: Vec<(usize, u64)>,
    latencies: Vec<u64>,
    not_found: usize,
    most_asked: usize,
    most_asked_name: String,
}

fn detect(evidence: &Evidence) -> Option<Found> {
    let messages = read(&evidence.recording.lookups);
    let lookups: Vec<u64> = evidence
        .exchanges
        .iter()
        .filter_map(|exchange| exchange.set_up)
        .map(|set_up| set_up.lookup.1.saturating_sub(set_up.lookup.0))
        .filter(|&length| length > 0)
        .collect();
    let waits = messages.unanswered.iter().filter(|(_, wait)| *wait >= UNANSWERED);
    let rows_shown: Vec<usize> = waits.map(|&(row, _)| row).collect();
    let slow = median(messages.latencies.clone()) >= SLOW;
    let resolutions = lookups.len().max(1);
    let searched = messages.not_found >= 2 && messages.queries >= 4 * resolutions;
    let repeated = messages.most_asked >= REPEATED;
    let mut mechanism = Vec::new();
    if !rows_shown.is_empty() {
        let longest = messages.unanswered.iter().map(|&(_, wait)| wait).max().unwrap_or_default();
        mechanism.push(format!(
            "{} queries got no answer; the longest wait for one was {}.",
            rows_shown.len(),
            Nanos(longest)
        ));
    }
    if searched {
        mechanism.push(format!(
            "{} queries were made for {resolutions} names; {} were answered 'no such name' (a search list).",
            messages.queries, messages.not_found
        ));
    }
    if repeated {
        mechanism.push(format!("{} was asked for {} times.", messages.most_asked_name, messages.most_asked));
    }
    if slow {
        mechanism.push(format!("The median answer took {}.", Nanos(median(messages.latencies.clone()))));
    }
    if mechanism.is_empty() {
        return None;
    }
    let wall: u64 = lookups.iter().sum();
    let count = evidence.exchanges.len().max(1) as u64;
    let title = format!(
        "Looking up names takes {} of every {} request",
        Nanos(wall / count),
        Nanos(evidence.exchange_wall() / count)
    );
    let remedy =
        "Check the resolvers in /etc/resolv.conf (one does not answer, or is slow), set ndots:1 or write names \
                  with a final dot, and keep answers: a caching resolver on this host, and connections that are reused."
            .to_string();
    let rows = if rows_shown.is_empty() { rows("lookups", 0..messages.queries) } else { rows("lookups", rows_shown) };
    let toll = Toll { wall, outside: 0, cpu: 0, affected: lookups.len() as u64 };
    Some(Found { title, mechanism, toll, place: Vec::new(), remedy, rows, explains: Vec::new() })
}

fn read(lookups: &[Lookup]) -> Messages {
    let mut messages = Messages::default();
    let mut asked: BTreeMap<(&str, u16), usize> = BTreeMap::new();
    let mut open: BTreeMap<(u32, u16, u16), (usize, u64)> = BTreeMap::new();
    let last = lookups.last().map_or(0, |row| row.time.0);
    for (index, row) in lookups.iter().enumerate() {
        let key = (row.connection, row.message, row.record_type);
        if row.direction == direction::OUT {
            messages.queries += 1;
            *asked.entry((&row.name, row.record_type)).or_default() += 1;
            if let Some((earlier, time)) = open.insert(key, (index, row.time.0)) {
                messages.unanswered.push((earlier, row.time.0.saturating_sub(time)));
            }
        } else if let Some((_, time)) = open.remove(&key) {
            messages.latencies.push(row.time.0.saturating_sub(time));
            messages.not_found += usize::from(row.code == 3);
        }
    }
    let never = open.into_values().map(|(index, time)| (index, last.saturating_sub(time)));
    messages.unanswered.extend(never);
    messages.unanswered.sort_unstable();
    if let Some((&(name, _), &count)) = asked.iter().max_by_key(|(_, count)| **count) {
        (messages.most_asked, messages.most_asked_name) = (count, name.to_string());
    }
    messages
}

#[cfg(test)]
mod tests {
    use crate::scene::{CLIENT, MS, Scene, US, request};
    use crate::tests::answer;
    use case::tables::direction::{IN, OUT};

    fn looked_up(answered_after: u64, times: u32) -> Vec<String> {
        let mut scene = Scene::new();
        let mut idle = scene.now;
        for id in 1..=times {
            let asked = scene.now;
            scene.lookup(CLIENT, asked, OUT, "host.example", 0);
            scene.off(CLIENT, asked, asked + answered_after);
            scene.now += answered_after;
            scene.lookup(CLIENT, scene.now, IN, "host.example", 0);
            scene.connect(id, CLIENT);
            for _ in 0..20 {
                request(&mut scene, CLIENT, id, 300 * US, &mut idle);
            }
        }
        let answer = answer(&scene.end());
        assert!(answer.ledger.accounts.iter().any(|account| account.name == "name look-up"), "{:?}", answer.ledger);
        answer.findings.into_iter().map(|finding| finding.name).collect()
    }

    #[test]
    fn a_name_asked_for_before_every_connection_is_found() {
        assert_eq!(looked_up(5 * MS, 6), ["name-lookup"]);
    }

    #[test]
    fn one_quick_look_up_is_left_alone() {
        assert_eq!(looked_up(5 * MS, 1), Vec::<String>::new());
    }

    #[test]
    fn a_slow_resolver_is_found() {
        assert_eq!(looked_up(150 * MS, 1), ["name-lookup"]);
    }
}
