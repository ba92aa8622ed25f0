//! P31: names take long to look up, or are looked up too often.

mod elsewhere;

use super::{Found, costly_call, detector, median, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::lookups::{self, Wait};
use crate::single_wait::waits_for_one_thing;
use case::Nanos;
use case::tables::{Lookup, direction};
use std::collections::BTreeMap;

detector! {
    /// # name-lookup
    ///
    /// ## What it is
    /// Before it can connect, a program waits for DNS: a resolver does not answer and the query is repeated after 5 s,
    /// a search list asks for many names that do not exist, the same name is looked up before every request, or the
    /// resolver is slow. Or a server looks something up before it answers: the name of whoever asks, as a rule for its
    /// log (a reverse look-up), or a name that it connects to.
    ///
    /// ## Evidence
    /// DNS messages and the time between them: queries without an answer for a second or more, 'no such name' answers
    /// before the right one, the same question five times or more, addresses whose names are asked for by a server with
    /// a request in hand, a median answer time over 100 ms. Only the time from a query to its answer is charged, not
    /// what the program does before it connects. Of names that a server looks up in another thread than the one that answers,
    /// or in an event loop, the waits which such an answer ended.
    ///
    /// ## What proves it
    /// An entry in the hosts file, or ndots:1 and single-request as resolver options: the wait goes away.
    ///
    /// ## Remedy
    /// Remove the resolver that does not answer; write names with a trailing dot or set ndots:1; cache addresses (a
    /// caching resolver on the host) and reuse connections. Let servers log addresses, and look names up when the log
    /// is read (Apache: HostnameLookups Off; sshd: UseDNS no; MariaDB: skip-name-resolve; vsftpd:
    /// reverse_lookup_enable=NO).
    ///
    /// ## Not to be confused with
    /// dead-ipv6 (the address is known, but connecting to it fails); connection-churn (each connection looks the name
    /// up again).
    "P31" "name-lookup",
    needs: &[Lookups]
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
    /// Questions for the name of an address.
    reverse: usize,
    reverse_row: usize,
}

/// A stretch of time in which somebody waited for look-ups.
#[derive(Clone, Copy)]
struct Span {
    pid: u32,
    /// The only thread whose messages count; none where all of the process do.
    tid: Option<u32>,
    start: u64,
    end: u64,
    /// Whether it is a server's, with a request in hand.
    in_hand: bool,
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let mut lookups = spans(analysis);
    lookups.extend(in_hand(analysis));
    let own: Vec<Wait> = lookups.iter().flat_map(|&span| waits(analysis, span)).collect();
    let elsewhere = elsewhere::find(analysis, &lookups);
    let at_the_server = lookups.iter().filter(|span| span.in_hand).count() + elsewhere.waits.len();
    let resolutions = lookups.len() + elsewhere.waits.len();
    let waits = || own.iter().chain(&elsewhere.waits);
    let mut messages = read(&analysis.recording.lookups);
    let silent = waits().map(|wait| (wait.row, wait.end - wait.start)).filter(|&(_, wait)| wait >= UNANSWERED);
    messages.silent = silent.collect();
    let mechanism = mechanism(analysis, &messages, resolutions.max(1), at_the_server);
    if mechanism.is_empty() {
        return None;
    }
    let wall = own.iter().map(|wait| wait.end - wait.start).sum::<u64>() + elsewhere.wall;
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
    let remedy = if at_the_server * 2 > resolutions && messages.reverse * 2 > messages.queries {
        "Let the server use addresses instead of names, in its log and its access rules, and look names up when the log is \
         read."
    } else {
        "Check the resolvers in /etc/resolv.conf (one is silent or slow), set ndots:1 or write names with a trailing dot, \
         and cache: run a caching resolver on this host and reuse connections."
    };
    let remedy = remedy.to_string();
    let saving = PotentialSaving { wall, outside: 0, cpu: 0, affected: lookups.len() as u64 + elsewhere.affected };
    let what = "Requests wait for DNS lookups".to_string();
    let of_others = elsewhere.waits.iter().map(|wait| (wait.start, wait.end));
    let stalls = lookups.iter().map(|span| (span.start, span.end)).chain(of_others).collect();
    let rows = rows("lookups", shown);
    Some(Found { title, what, mechanism, saving, place, remedy, rows, stalls, ..Found::default() })
}

/// The look-ups that exchanges waited for while their connection was set up: first query, last answer.
fn spans(analysis: &Analysis) -> Vec<Span> {
    let set_ups = analysis.exchanges.iter().filter_map(|exchange| {
        let (start, end) = exchange.set_up.as_ref()?.lookup;
        let pid = analysis.connections.row(exchange.connection).pid;
        (start < end).then_some(Span { pid, tid: None, start, end, in_hand: false })
    });
    set_ups.collect()
}

/// The look-ups that a server made while it answered, in a thread that answers: from the first message to the last. A
/// question that got no answer by then held nothing up that could be told; what an event loop asks is looked for elsewhere.
fn in_hand(analysis: &Analysis) -> Vec<Span> {
    let lookups = &analysis.recording.lookups;
    let mut spans = Vec::new();
    let servers = analysis.exchanges.iter().filter_map(|exchange| Some((exchange, analysis.server_slot(exchange)?)));
    for (exchange, slot) in servers.filter(|_| !lookups.is_empty()) {
        let mut tids: Vec<u32> =
            analysis.server_transfers(exchange).iter().map(|&row| analysis.call(row as usize).tid).collect();
        tids.sort_unstable();
        tids.dedup();
        let first = lookups.partition_point(|row| row.time.0 < exchange.start);
        let within = &lookups[first..lookups.partition_point(|row| row.time.0 < exchange.end).max(first)];
        for tid in tids {
            let mut own = within.iter().filter(|row| row.tid == tid);
            let Some(start) = own.next().map(|row| row.time.0) else { continue };
            let Some(last) = own.next_back() else { continue };
            let end = lookups::time(analysis.recording, last).min(exchange.end);
            if !waits_for_one_thing(analysis, tid, start, end) {
                continue;
            }
            spans.push(Span { pid: analysis.connections.row(slot).pid, tid: Some(tid), start, end, in_hand: true });
        }
    }
    spans
}

fn mechanism(analysis: &Analysis, messages: &Messages, resolutions: usize, at_the_server: usize) -> Vec<String> {
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
    if messages.reverse >= REPEATED && at_the_server >= REPEATED {
        mechanism.push(format!(
            "Before it answers, the server asks for the name of an address (a reverse look-up), {} times, first {}.",
            messages.reverse,
            name_of(messages.reverse_row)
        ));
    } else if messages.most_asked >= REPEATED {
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
            if is_reverse(&row.name) {
                messages.reverse_row = if messages.reverse == 0 { index } else { messages.reverse_row };
                messages.reverse += 1;
            }
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

/// Whether a name stands for an address whose name is asked for (RFC 1035, 3.5; RFC 3596, 2.5).
fn is_reverse(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    name.ends_with(".in-addr.arpa") || name.ends_with(".ip6.arpa")
}

/// Within a look-up the times in which a query had no answer: what else the program did meanwhile is its own.
fn waits(analysis: &Analysis, span: Span) -> Vec<Wait> {
    let lookups = &analysis.recording.lookups;
    let first = lookups.partition_point(|row| row.time.0 < span.start);
    let here = lookups[first..].iter().enumerate().take_while(|(_, row)| row.time.0 <= span.end);
    let is_own = |row: &Lookup| match span.tid {
        Some(tid) => row.tid == tid,
        None => analysis.threads.get(row.tid).is_none_or(|thread| thread.pid == span.pid),
    };
    let own = here.filter(|(_, row)| is_own(row));
    lookups::waits(analysis.recording, own.map(|(index, _)| first + index), span.end)
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
    use crate::fixture::{CLIENT, Fixture, MS, SERVER, US, request};
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

    /// Requests of one connection, with a question of the server's in each, answered after so long.
    fn asked_by_the_server(name: &dyn Fn(u32) -> String, answered_after: u64) -> Answer {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        let mut idle = fixture.now;
        for number in 0..20 {
            let name = name(number);
            // In the server's thread, between reading the request and answering it.
            let asked = fixture.now + 100 * US;
            fixture.lookup(SERVER, asked, OUT, &name, 0);
            fixture.lookup(SERVER, asked + answered_after, IN, &name, 3);
            request(&mut fixture, CLIENT, 1, answered_after + 300 * US, &mut idle);
        }
        answer(&fixture.end())
    }

    #[test]
    fn a_server_that_asks_for_the_names_of_its_clients_is_found() {
        let answer = asked_by_the_server(&|number| format!("{number}.0.0.10.in-addr.arpa"), 20 * MS);
        let finding = answer.findings.iter().find(|finding| finding.name == "name-lookup").expect("name-lookup");
        assert!(finding.mechanism.iter().any(|line| line.contains("a reverse look-up), 20 times")), "{finding:?}");
        assert_eq!(finding.cost.ns_per_exchange, 20 * MS);
        assert!(finding.remedy.contains("use addresses"), "{}", finding.remedy);
    }

    #[test]
    fn a_server_that_asks_for_one_name_again_and_again_is_found_and_one_that_asks_for_many_is_not() {
        let is_found = |answer: Answer| answer.findings.iter().any(|finding| finding.name == "name-lookup");
        assert!(is_found(asked_by_the_server(&|_| "db.example".into(), 20 * MS)));
        assert!(!is_found(asked_by_the_server(&|number| format!("{number}.example"), 20 * MS)));
    }

    #[test]
    fn a_slow_resolver_is_found() {
        assert_eq!(looked_up(150 * MS, 1), ["name-lookup"]);
    }
}
