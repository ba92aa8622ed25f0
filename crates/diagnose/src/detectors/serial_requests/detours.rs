//! Requests that are made twice: the first is only answered with another address, or with a question for credentials.

use crate::analysis::{Analysis, PotentialSaving};
use crate::connections::End;
use crate::detectors::{Found, costly_call, rows};
use crate::exchange::Exchange;
use crate::number;
use crate::said::Said;
use case::Nanos;
use case::tables::{HttpMessage, direction};
use std::collections::BTreeMap;

/// Fewer than this may be a program's beginning: one log-in, one redirection from `http` to `https` for each host.
const HABIT: usize = 10;

/// At least one request in this many is such a first one: with fewer, most requests go straight to what they want.
const MOST_APART: usize = 4;

/// Where leaving them out saves less of all requests' time, something else makes them slow.
const LEAST_SHARE: f64 = 0.2;

/// What an answer asks its client to do before it gets anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Detour {
    /// Ask at another address (301, 302, 307, 308).
    Elsewhere,
    /// Ask again with credentials (401, 407).
    Credentials,
}

impl Detour {
    fn of(status: u16) -> Option<Detour> {
        match status {
            // 303 sends on whoever has posted a form to what came of it: two requests are meant.
            301 | 302 | 307 | 308 => Some(Detour::Elsewhere),
            401 | 407 => Some(Detour::Credentials),
            _ => None,
        }
    }

    fn remedy(self) -> &'static str {
        match self {
            Detour::Elsewhere => {
                "Ask for the address that the redirect leads to (https, the canonical host, a trailing slash), keep what a permanent \
                 redirect said, or let the server answer under both."
            }
            Detour::Credentials => {
                "Send the credentials with the first request (preemptive authentication), or keep a session or a token."
            }
        }
    }
}

/// A request with the head of its final answer.
struct Asked<'e> {
    exchange: &'e Exchange,
    request: &'e HttpMessage,
    status: u16,
}

pub(super) fn find(analysis: &Analysis) -> Option<Found> {
    let mut threads: BTreeMap<u32, Vec<Asked>> = BTreeMap::new();
    let messages = Said::messages(analysis);
    for exchange in analysis.exchanges.iter().filter(|exchange| exchange.end_seen == End::Client) {
        let heads = messages.within(exchange);
        let Some(request) = heads.iter().find(|row| row.direction == direction::OUT && row.status == 0) else {
            continue;
        };
        let Some(answer) = analysis.response_head(exchange) else { continue };
        threads.entry(request.tid).or_default().push(Asked { exchange, request, status: answer.status });
    }
    let asked: usize = threads.values().map(Vec::len).sum();
    let mut detours: BTreeMap<(Detour, u16), Vec<&Exchange>> = BTreeMap::new();
    for pair in threads.values().flat_map(|asked| asked.windows(2)) {
        if let Some(detour) = detour(&pair[0], &pair[1]) {
            detours.entry((detour, pair[0].status)).or_default().push(pair[0].exchange);
        }
    }
    let often = detours.iter().filter(|(_, made)| made.len() >= HABIT && made.len() * MOST_APART >= asked);
    let ((detour, status), made) = often.max_by_key(|(_, made)| spent(made))?;
    let is_felt = spent(made) as f64 >= LEAST_SHARE * analysis.exchange_wall() as f64;
    is_felt.then(|| found(analysis, (*detour, *status), made, asked))
}

/// Whether the second of two requests that a thread makes is what the answer to the first asked for.
fn detour(first: &Asked, second: &Asked) -> Option<Detour> {
    let detour = Detour::of(first.status)?;
    let is_same = first.request.target == second.request.target && first.request.host == second.request.host;
    let follows = match detour {
        // Whoever asks for the same once more does not follow.
        Detour::Elsewhere => {
            let asks = matches!(first.request.method.as_str(), "GET" | "HEAD");
            asks && !is_same && is_moved(&first.request.target, &second.request.target)
        }
        Detour::Credentials => is_same,
    };
    let is_answered = second.status < 400 && first.request.method == second.request.method;
    (follows && is_answered && second.exchange.start >= first.exchange.end).then_some(detour)
}

/// Whether one path is the other on another host, with or without a slash at its end, or below another folder. Where a redirection
/// leads is not recorded: what has another name may as well be the next thing that the program wants.
fn is_moved(from: &str, to: &str) -> bool {
    let parts = |target: &str| {
        let path = target.split(['?', '#']).next().unwrap_or_default();
        path.split('/').filter(|part| !part.is_empty()).map(str::to_string).collect::<Vec<_>>()
    };
    let (from, to) = (parts(from), parts(to));
    from == to || (!from.is_empty() && to.ends_with(&from)) || (!to.is_empty() && from.ends_with(&to))
}

fn spent(exchanges: &[&Exchange]) -> u64 {
    exchanges.iter().map(|exchange| exchange.length()).sum()
}

fn found(analysis: &Analysis, (detour, status): (Detour, u16), made: &[&Exchange], asked: usize) -> Found {
    let first = |exchange: &&Exchange| Some((*analysis.transfers(exchange).first()? as usize, exchange.length()));
    let place = costly_call(analysis, made.iter().filter_map(first));
    let (count, all, spent) = (number::count(made.len() as u64), number::count(asked as u64), spent(made));
    let why = match detour {
        Detour::Elsewhere => format!("redirected ({status})"),
        Detour::Credentials => format!("refused for lack of credentials ({status})"),
    };
    let what = format!("{count} of {all} requests are {why} and made again");
    let writes = made.iter().filter_map(|exchange| analysis.transfers(exchange).first());
    Found {
        title: format!("{what}: {} of {}{}", Nanos(spent), Nanos(analysis.exchange_wall()), place.in_words()),
        what,
        mechanism: vec![
            format!("{count} answers have status {status} and are followed by a request that gets its answer."),
            format!("Such a first request takes {} on average.", Nanos(spent / made.len().max(1) as u64)),
        ],
        saving: PotentialSaving { wall: spent, affected: made.len() as u64, ..PotentialSaving::default() },
        place,
        remedy: detour.remedy().to_string(),
        rows: rows("calls", writes.map(|&row| row as usize)),
        ..Found::default()
    }
}

#[cfg(test)]
mod tests {
    use super::is_moved;
    use crate::fixture::{CLIENT, Fixture, US, WRITE};
    use crate::tests::{answer, names};
    use case::tables::{HttpMessage, direction};
    use case::{Nanos, Recording};

    /// A client that makes requests, each for a target and answered with a status.
    fn asking(requests: impl IntoIterator<Item = (String, u16)>) -> Recording {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        for (target, status) in requests {
            let head = HttpMessage { connection: 1, tid: CLIENT, host: "shop".into(), ..HttpMessage::default() };
            let (time, method) = (Nanos(fixture.now), "GET".to_string());
            fixture.recording.http_messages.push(HttpMessage { time, method, target, ..head.clone() });
            fixture.moves(CLIENT, 1, WRITE, 60);
            let row = fixture.waits_for(CLIENT, 1, 400 * US, 300);
            let time = fixture.recording.calls[row].start;
            let answer = HttpMessage { time, status, direction: direction::IN, ..head };
            fixture.recording.http_messages.push(answer);
        }
        fixture.end()
    }

    /// Thirty targets, each first answered with a status, then with 200 at the target that follows from it.
    fn twice(status: u16, then: impl Fn(u32) -> String) -> Recording {
        asking((0..30).flat_map(|number| [(format!("/item{number}"), status), (then(number), 200)]))
    }

    #[test]
    fn requests_that_are_redirected_each_time_are_found() {
        let answer = answer(&twice(301, |number| format!("/item{number}/")));
        let finding = answer.findings.iter().find(|finding| finding.name == "serial-requests").expect("found");
        assert!(finding.title.starts_with("30 of 60 requests are redirected (301) and made again: "));
        assert!((0.4..0.6).contains(&finding.cost.share_of_wall), "{finding:#?}");
    }

    #[test]
    fn a_path_moves_to_another_host_or_folder_or_gets_a_slash() {
        for (from, to) in
            [("/a/b", "/a/b"), ("/a", "/a/"), ("/a?x=1", "/en/a?x=1"), ("/old/a.html", "/a.html"), ("/", "/")]
        {
            assert!(is_moved(from, to), "{from} {to}");
        }
        for (from, to) in [("/a", "/b"), ("/a", "/about"), ("/a", "/a/next"), ("/", "/a")] {
            assert!(!is_moved(from, to), "{from} {to}");
        }
    }

    #[test]
    fn requests_that_are_first_made_without_credentials_are_found() {
        let answer = answer(&twice(401, |number| format!("/item{number}")));
        assert!(
            answer.findings[0].title.contains("requests are refused for lack of credentials (401) and made again"),
            "{answer:#?}"
        );
        assert!(answer.findings[0].remedy.contains("first request"));
    }

    #[test]
    fn one_log_in_a_benchmark_that_does_not_follow_and_a_refusal_are_left_alone() {
        let logs_in = (0..60).map(|number| (format!("/item{}", number.max(1)), if number == 0 { 401 } else { 200 }));
        assert_eq!(names(&asking(logs_in)), Vec::<String>::new());
        assert_eq!(names(&asking((0..60).map(|_| ("/old".to_string(), 301)))), Vec::<String>::new());
        assert_eq!(names(&asking((0..60).map(|_| ("/secret".to_string(), 401)))), Vec::<String>::new());
        let looks_for_dead_links =
            (0..60).map(|number| (format!("/link{number}"), if number % 2 == 0 { 301 } else { 200 }));
        assert_eq!(names(&asking(looks_for_dead_links)), Vec::<String>::new());
        let mixed = (0..60).map(|number| (format!("/item{number}"), if number % 10 == 0 { 302 } else { 200 }));
        assert_eq!(names(&asking(mixed)), Vec::<String>::new());
    }
}
