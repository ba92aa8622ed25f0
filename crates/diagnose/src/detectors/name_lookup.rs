//! P31: names take long to look up, or are looked up too often.

use super::{Found, costly_call, detector, median, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::lookups::{self, Wait};
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
    /// before the right one, the same question five times or more, a median answer time over 100 ms. Only the time from
    /// a query to its answer is charged, not what the program does before it connects.
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
    let waits: Vec<Wait> = lookups.iter().flat_map(|&span| waits(analysis, span)).collect();
    let mut messages = read(&analysis.recording.lookups);
    let silent = waits.iter().map(|wait| (wait.row, wait.end - wait.start)).filter(|&(_, wait)| wait >= UNANSWERED);
    messages.silent = silent.collect();
    let mechanism = mechanism(analysis, &messages, lookups.len().max(1));
    if mechanism.is_empty() {
        return None;
    }
    let wall: u64 = waits.iter().map(|wait| wait.end - wait.start).sum();
    let count = analysis.exchanges.len().max(1) as u64;
    let shown: Vec<usize> = if messages.silent.is_empty() {
        vec![messages.most_asked_row]
    } else {
        messages.silent.iter().map(|&(row, _)| row).collect()
    };
    // Silence is charged to the question before it; where no resolver was silent, every question counts the same.
    let asked: Vec<(usize, u64)> = if messages.silent.is_empty() {
        let lookups = analysis.recording.lookups.iter().enumerate();
        lookups.filter(|(_, row)| row.direction == direction::OUT).map(|(row, _)| (row, 1)).collect()
    } else {
        messages.silent.clone()
    };
    let sent = |&(row, weight): &(usize, u64)| Some((call_of(analysis, &analysis.recording.lookups[row])?, weight));
    let place = costly_call(analysis, asked.iter().filter_map(sent));
    let title = format!(
        "DNS lookups take {} of every {} request{}",
        Nanos(wall / count),
        Nanos(analysis.exchange_wall() / count),
        place.in_words(),
    );
    let remedy = "Check the resolvers in /etc/resolv.conf (one is silent or slow), set ndots:1 or write names with a \
                  trailing dot, and cache: run a caching resolver on this host and reuse connections."
        .to_string();
    let saving = PotentialSaving { wall, outside: 0, cpu: 0, affected: lookups.len() as u64 };
    let what = "Requests wait for DNS lookups".to_string();
    let stalls = lookups.iter().map(|&(_, start, end)| (start, end)).collect();
    let rows = rows("lookups", shown);
    Some(Found { title, what, mechanism, saving, place, remedy, rows, stalls, ..Found::default() })
}

/// The look-ups that exchanges waited for: process, first query, last answer.
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
            "A resolver did not answer {} times, first when asked for {}; the longest wait was {}.",
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

/// Within a look-up the times in which a query had no answer: what else the program did meanwhile is its own.
fn waits(analysis: &Analysis, (pid, start, end): (u32, u64, u64)) -> Vec<Wait> {
    let lookups = &analysis.recording.lookups;
    let first = lookups.partition_point(|row| row.time.0 < start);
    let here = lookups[first..].iter().enumerate().take_while(|(_, row)| row.time.0 <= end);
    let own = here.filter(|(_, row)| analysis.threads.get(row.tid).is_none_or(|thread| thread.pid == pid));
    lookups::waits(analysis.recording, own.map(|(index, _)| first + index), end)
}

/// The row of the call that sent a message.
fn call_of(analysis: &Analysis, lookup: &Lookup) -> Option<usize> {
    let rows = analysis.threads.get(lookup.tid)?.calls.clone();
    let calls = &analysis.recording.calls[rows.clone()];
    let at = calls.partition_point(|call| call.start < lookup.time);
    calls.get(at).filter(|call| call.start == lookup.time).map(|_| rows.start + at)
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, US, request};
    use crate::tests::answer;
    use case::Answer;
    use case::tables::direction::{IN, OUT};

    fn looked_up(answered_after: u64, times: u32) -> Vec<String> {
        let answer = look_up(answered_after, 0, times);
        assert!(answer.ledger.accounts.iter().any(|account| account.name == "name look-up"), "{:?}", answer.ledger);
        answer.findings.into_iter().map(|finding| finding.name).collect()
    }

    /// A look-up before each connection, and what the program computes between its answer and the connect.
    fn look_up(answered_after: u64, work: u64, times: u32) -> Answer {
        let mut fixture = Fixture::new();
        let mut idle = fixture.now;
        for id in 1..=times {
            let asked = fixture.now;
            fixture.lookup(CLIENT, asked, OUT, "host.example", 0);
            fixture.off(CLIENT, asked, asked + answered_after);
            fixture.now += answered_after;
            fixture.lookup(CLIENT, fixture.now, IN, "host.example", 0);
            fixture.now += work;
            fixture.connect(id, CLIENT);
            for _ in 0..20 {
                request(&mut fixture, CLIENT, id, 300 * US, &mut idle);
            }
        }
        answer(&fixture.end())
    }

    #[test]
    fn only_the_look_up_is_charged_and_not_the_work_before_the_connect() {
        let of_lookups = |answer: &Answer| {
            let finding = answer.findings.iter().find(|finding| finding.name == "name-lookup").expect("name-lookup");
            finding.cost.ns_per_exchange * answer.exchanges
        };
        assert_eq!(of_lookups(&look_up(50 * MS, 0, 6)), 300 * MS);
        assert_eq!(of_lookups(&look_up(50 * MS, 20 * MS, 6)), 300 * MS);
    }

    #[test]
    fn seconds_of_work_after_a_quick_answer_are_no_silent_resolver() {
        assert_eq!(look_up(5 * MS, 3_000 * MS, 1).findings, []);
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
