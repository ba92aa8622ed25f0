//! P31: names take long to look up, or are looked up too often.

use super::{Found, detector, median, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::place;
use case::Nanos;
use case::tables::{Lookup, direction};
use std::collections::BTreeMap;

detector! {
    /// # name-lookup
    ///
    /// ## What it is
    /// Before it can connect, a program waits for DNS: a resolver does not answer and the query is repeated after 5 s,
    /// a search list asks for many names that do not exist, the same name is looked up before every request, or the
    /// resolver is slow.
    ///
    /// ## Evidence
    /// DNS messages and the time between them: queries without an answer for a second or more, 'no such name' answers
    /// before the right one, the same question five times or more, a median answer time over 100 ms.
    ///
    /// ## What proves it
    /// An entry in the hosts file, or ndots:1 and single-request as resolver options: the wait goes away.
    ///
    /// ## Remedy
    /// Remove the resolver that does not answer; write names with a trailing dot or set ndots:1; cache addresses (a
    /// caching resolver on the host) and reuse connections.
    ///
    /// ## Not to be confused with
    /// dead-ipv6 (the address is known, but connecting to it fails); connection-churn (each connection looks the name
    /// up again).
    "P31" "name-lookup"
}

/// Resolvers answer in milliseconds; glibc repeats after 5 s, others after 1 s, less what their timers are off by.
const UNANSWERED: u64 = 950_000_000;

/// A resolver slower than this is slow wherever it stands.
const SLOW: u64 = 100_000_000;

/// A and AAAA, once and again by chance, are four; five times the same question is no caching.
const REPEATED: usize = 5;

/// What the messages show.
#[derive(Default)]
struct Messages {
    queries: usize,
    /// Silent waits: the message before, and how long.
    silent: Vec<(usize, u64)>,
    latencies: Vec<u64>,
    not_found: usize,
    most_asked: usize,
    most_asked_row: usize,
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let lookups = spans(analysis);
    let mut messages = read(&analysis.recording.lookups);
    messages.silent = silent_waits(analysis, &lookups);
    let mechanism = mechanism(analysis, &messages, lookups.len().max(1));
    if mechanism.is_empty() {
        return None;
    }
    let wall: u64 = lookups.iter().map(|&(_, start, end)| end - start).sum();
    let count = analysis.exchanges.len().max(1) as u64;
    let shown: Vec<usize> = if messages.silent.is_empty() {
        vec![messages.most_asked_row]
    } else {
        messages.silent.iter().map(|&(row, _)| row).collect()
    };
    let place = shown.first().map_or_else(Vec::new, |&row| place_of(analysis, &analysis.recording.lookups[row]));
    let title = format!(
        "DNS lookups take {} of every {} request{}",
        Nanos(wall / count),
        Nanos(analysis.exchange_wall() / count),
        place::in_words(&place),
    );
    let remedy = "Check the resolvers in /etc/resolv.conf (one is silent or slow), set ndots:1 or write names with a \
                  trailing dot, and cache: run a caching resolver on this host and reuse connections."
        .to_string();
    let saving = PotentialSaving { wall, outside: 0, cpu: 0, affected: lookups.len() as u64 };
    Some(Found { title, mechanism, saving, place, remedy, rows: rows("lookups", shown), explains: Vec::new() })
}

/// The look-ups that exchanges waited for: process, first query, connect.
fn spans(analysis: &Analysis) -> Vec<(u32, u64, u64)> {
    let set_ups = analysis.exchanges.iter().filter_map(|exchange| {
        let (start, end) = exchange.set_up?.lookup;
        (start < end).then(|| (analysis.connections.row(exchange.connection).pid, start, end))
    });
    set_ups.collect()
}

fn mechanism(analysis: &Analysis, messages: &Messages, resolutions: usize) -> Vec<String> {
    let name_of = |row: usize| analysis.recording.lookups[row].name.as_str();
    let mut mechanism = Vec::new();
    if let Some(&(row, _)) = messages.silent.first() {
        let longest = messages.silent.iter().map(|&(_, wait)| wait).max().unwrap_or_default();
        mechanism.push(format!(
            "A resolver stayed silent {} times, first when asked for {}; the longest silence was {}.",
            messages.silent.len(),
            name_of(row),
            Nanos(longest)
        ));
    }
    if messages.not_found >= 2 && messages.queries >= 4 * resolutions {
        mechanism.push(format!(
            "{} queries were made for {resolutions} names; {} of them got 'no such name' (a search list).",
            messages.queries, messages.not_found
        ));
    }
    if messages.most_asked >= REPEATED {
        mechanism.push(format!("{} was looked up {} times.", name_of(messages.most_asked_row), messages.most_asked));
    }
    let latency = median(messages.latencies.clone());
    if latency >= SLOW {
        mechanism.push(format!("The median answer took {}.", Nanos(latency)));
    }
    mechanism
}

fn read(lookups: &[Lookup]) -> Messages {
    let mut messages = Messages::default();
    let mut asked: BTreeMap<(&str, u16), (usize, usize)> = BTreeMap::new();
    let mut open: BTreeMap<(u32, u16, u16), u64> = BTreeMap::new();
    for (index, row) in lookups.iter().enumerate() {
        let key = (row.connection, row.message, row.record_type);
        if row.direction == direction::OUT {
            messages.queries += 1;
            asked.entry((&row.name, row.record_type)).or_insert((0, index)).0 += 1;
            open.insert(key, row.time.0);
        } else if let Some(time) = open.remove(&key) {
            messages.latencies.push(row.time.0.saturating_sub(time));
            messages.not_found += usize::from(row.code == 3);
        }
    }
    if let Some(&(count, row)) = asked.values().max_by_key(|(count, row)| (*count, std::cmp::Reverse(*row))) {
        (messages.most_asked, messages.most_asked_row) = (count, row);
    }
    messages
}

/// Within the look-ups that exchanges waited for, times without any message: the one before, and how long.
fn silent_waits(analysis: &Analysis, spans: &[(u32, u64, u64)]) -> Vec<(usize, u64)> {
    let lookups = &analysis.recording.lookups;
    let mut found = Vec::new();
    for &(pid, start, end) in spans {
        let first = lookups.partition_point(|row| row.time.0 < start);
        let here = lookups[first..].iter().enumerate().take_while(|(_, row)| row.time.0 < end);
        let own = here.filter(|(_, row)| analysis.threads.get(row.tid).is_none_or(|thread| thread.pid == pid));
        let times: Vec<(usize, u64)> = own.map(|(index, row)| (first + index, row.time.0)).collect();
        let ends = times.iter().skip(1).map(|&(_, time)| time).chain([end]);
        let waits = times.iter().zip(ends).map(|(&(row, time), end)| (row, end.saturating_sub(time)));
        found.extend(waits.filter(|&(_, wait)| wait >= UNANSWERED));
    }
    found
}

/// The line that asked: the call that sent the message.
fn place_of(analysis: &Analysis, lookup: &Lookup) -> Vec<case::Place> {
    let Some(thread) = analysis.threads.get(lookup.tid) else { return Vec::new() };
    let calls = &analysis.recording.calls[thread.calls.clone()];
    let call = calls.get(calls.partition_point(|call| call.start < lookup.time));
    call.filter(|call| call.start == lookup.time).map_or_else(Vec::new, |call| place::of_call(&analysis.code, call))
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, US, request};
    use crate::tests::answer;
    use case::tables::direction::{IN, OUT};

    fn looked_up(answered_after: u64, times: u32) -> Vec<String> {
        let mut fixture = Fixture::new();
        let mut idle = fixture.now;
        for id in 1..=times {
            let asked = fixture.now;
            fixture.lookup(CLIENT, asked, OUT, "host.example", 0);
            fixture.off(CLIENT, asked, asked + answered_after);
            fixture.now += answered_after;
            fixture.lookup(CLIENT, fixture.now, IN, "host.example", 0);
            fixture.connect(id, CLIENT);
            for _ in 0..20 {
                request(&mut fixture, CLIENT, id, 300 * US, &mut idle);
            }
        }
        let answer = answer(&fixture.end());
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
    fn a_resolver_that_stays_silent_is_found() {
        assert_eq!(looked_up(3000 * MS, 1), ["name-lookup"]);
    }

    #[test]
    fn a_slow_resolver_is_found() {
        assert_eq!(looked_up(150 * MS, 1), ["name-lookup"]);
    }
}
