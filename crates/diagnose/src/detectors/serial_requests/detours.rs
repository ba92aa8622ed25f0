//! Requests that are made twice: the first is only answered with another address, or with a question for credentials, or asks only
//! whether or what the second may.

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

/// What stands before the request that gets what is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Detour {
    /// Ask at another address (301, 302, 307, 308).
    Elsewhere,
    /// Ask again with credentials (401, 407).
    Credentials,
    /// Asking what is allowed (OPTIONS): what browsers do before they ask another origin.
    Permission,
    /// Asking for the head alone (HEAD).
    Head,
}

impl Detour {
    fn of(first: &Asked) -> Option<Detour> {
        match (first.request.method.as_str(), first.status) {
            // 303 sends on whoever has posted a form to what came of it: two requests are meant.
            ("GET" | "HEAD", 301 | 302 | 307 | 308) => Some(Detour::Elsewhere),
            (_, 401 | 407) => Some(Detour::Credentials),
            ("OPTIONS", 200..=299) => Some(Detour::Permission),
            ("HEAD", 200..=299) => Some(Detour::Head),
            _ => None,
        }
    }

    /// What the first of so many requests are, with this status.
    fn what(self, count: &str, all: &str, status: u16) -> String {
        match self {
            Detour::Elsewhere => format!("{count} of {all} requests are redirected ({status}) and made again"),
            Detour::Credentials => {
                format!("{count} of {all} requests are refused for lack of credentials ({status}) and made again")
            }
            Detour::Permission => format!("{count} of {all} requests only ask what the next one may do (OPTIONS)"),
            Detour::Head => format!("{count} of {all} requests only ask for the head of what the next one gets (HEAD)"),
        }
    }

    /// What shows it.
    fn seen(self, count: &str, status: u16) -> String {
        match self {
            Detour::Elsewhere | Detour::Credentials => {
                format!("{count} answers have status {status} and are followed by a request that gets its answer.")
            }
            Detour::Permission | Detour::Head => {
                format!("{count} of them are followed by another request for the same address, from the same thread.")
            }
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
            Detour::Permission => {
                "Let the server say for how long its answer holds (Access-Control-Max-Age), or let one origin serve both the page and \
                 what it asks for."
            }
            Detour::Head => {
                "Ask for it at once: its answer has the same head; or ask for it only if it has changed (If-None-Match, \
                 If-Modified-Since)."
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
    let detour = Detour::of(first)?;
    let is_same = first.request.target == second.request.target && first.request.host == second.request.host;
    let method = |asked: &Asked| asked.request.method.clone();
    let follows = match detour {
        // Whoever asks for the same once more does not follow.
        Detour::Elsewhere => {
            !is_same && method(first) == method(second) && is_moved(&first.request.target, &second.request.target)
        }
        Detour::Credentials => is_same && method(first) == method(second),
        Detour::Permission => is_same && method(second) != "OPTIONS",
        Detour::Head => is_same && method(second) == "GET",
    };
    (follows && second.status < 400 && second.exchange.start >= first.exchange.end).then_some(detour)
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
    let what = detour.what(&count, &all, status);
    let writes = made.iter().filter_map(|exchange| analysis.transfers(exchange).first());
    Found {
        title: format!("{what}: {} of {}{}", Nanos(spent), Nanos(analysis.exchange_wall()), place.in_words()),
        what,
        mechanism: vec![
            detour.seen(&count, status),
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
        asking_by(requests.into_iter().map(|(target, status)| ("GET", target, status)))
    }

    /// The same by other methods.
    fn asking_by(requests: impl IntoIterator<Item = (&'static str, String, u16)>) -> Recording {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        for (method, target, status) in requests {
            let head = HttpMessage { connection: 1, tid: CLIENT, host: "shop".into(), ..HttpMessage::default() };
            let (time, method) = (Nanos(fixture.now), method.to_string());
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
    fn requests_that_only_ask_what_the_next_one_may_do_or_gets_are_found() {
        let first = |method: &'static str, then: &'static str| {
            let both = |number| [(method, format!("/item{number}"), 204), (then, format!("/item{number}"), 200)];
            answer(&asking_by((0..30).flat_map(both)))
                .findings
                .first()
                .map(|found| found.title.clone())
                .unwrap_or_default()
        };
        let title = first("OPTIONS", "POST");
        assert!(title.starts_with("30 of 60 requests only ask what the next one may do (OPTIONS): "), "{title}");
        let title = first("HEAD", "GET");
        assert!(
            title.starts_with("30 of 60 requests only ask for the head of what the next one gets (HEAD): "),
            "{title}"
        );
        assert_eq!(first("HEAD", "HEAD"), "", "a check of links");
        assert_eq!(first("GET", "GET"), "");
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
