//! P71: a server fetches the same thing from another one for each request.

use super::{Found, costly_call, detector, of_every_request, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::connections::End;
use crate::number;
use crate::questions::{self, Question};
use crate::spans;
use case::tables::{HttpMessage, direction};
use case::{Bytes, Kind, Nanos, Share};
use std::collections::{BTreeMap, BTreeSet};

detector! {
    /// # refetched-answers
    ///
    /// ## What it is
    /// Whatever a server is asked for, it first asks another one for the same thing again: its settings, a list of keys, the rates
    /// of the day. The answer is as long each time, and nobody keeps it.
    ///
    /// ## Evidence
    /// One address (GET, without a query) that a server asks another one for in eight of ten requests or more, though the
    /// requests themselves are for different things; answered 200 each time, with one and the same Content-Length; and these
    /// questions take a fifth of the requests' time or more. Heads are seen without TLS only.
    ///
    /// ## What proves it
    /// A proxy between the two that keeps the answer (`caching-proxy`): the question is gone from all requests but the first. That
    /// clients get the same answers shows that it could be kept for as long as the trials took, not for how long it is good.
    ///
    /// ## Remedy
    /// Keep the answer in memory for as long as its owner says (Cache-Control, ETag), or put a cache in between; fetch it in the
    /// background, not while somebody waits.
    ///
    /// ## Not to be confused with
    /// A proxy, which asks for what it is asked for; an answer that depends on who asks (a check of credentials), which is
    /// asked for under one address, too; serial-requests, in which many questions are asked for one request.
    "P71" "refetched-answers",
    kind: Kind::Observation,
    needs: &[Server, Tcp, Requests]
}

/// Fewer requests show no habit.
const LEAST: usize = 10;
/// So many of the requests come with the question.
const MOSTLY: f64 = 0.8;
/// Requests for so many different things show that it does not depend on what is asked for.
const DIFFERENT: usize = 3;
/// Less than this part of the requests' time is not what makes them slow.
const LEAST_SHARE: f64 = 0.2;

/// What a server asks for: of whom, and under which address.
type Address<'r> = (String, &'r str);

/// The questions for one address.
#[derive(Default)]
struct Asked {
    questions: Vec<Question>,
    /// How long the answers are, in bytes.
    lengths: BTreeSet<i64>,
}

impl Asked {
    fn whole(&self) -> u64 {
        self.questions.iter().map(Question::length).sum()
    }
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let requests = analysis.exchanges.len();
    if requests < LEAST || targets_of_clients(analysis).len() < DIFFERENT {
        return None;
    }
    let is_habit = |asked: &Asked| {
        let is_for_each = asked.questions.len() as f64 >= MOSTLY * requests as f64;
        is_for_each && asked.lengths.len() == 1 && asked.lengths.first() > Some(&0)
    };
    let (address, asked) =
        by_address(analysis).into_iter().filter(|(_, asked)| is_habit(asked)).max_by_key(|(_, asked)| asked.whole())?;
    let wall = asked.whole().min(analysis.exchange_wall());
    (wall as f64 >= LEAST_SHARE * analysis.exchange_wall() as f64).then(|| found(analysis, &address, &asked, wall))
}

/// What clients ask for, where the whole of it is known.
fn targets_of_clients<'r>(analysis: &Analysis<'r>) -> BTreeSet<&'r str> {
    let ids: BTreeSet<u32> =
        analysis.exchanges.iter().map(|exchange| analysis.connections.row(exchange.connection).id).collect();
    let messages = analysis.recording.http_messages.iter();
    messages.filter(|row| row.status == 0 && ids.contains(&row.connection)).map(|row| row.target.as_str()).collect()
}

/// What servers ask others for, by its address.
fn by_address<'r>(analysis: &Analysis<'r>) -> BTreeMap<Address<'r>, Asked> {
    let asked_first: BTreeSet<usize> = analysis.exchanges.iter().map(|exchange| exchange.connection).collect();
    let spans = analysis.exchanges.iter().map(|exchange| (exchange.start, exchange.end)).collect();
    // What is fetched while no request is waiting costs none of them anything.
    let requests = spans::merge(spans);
    let mut all: BTreeMap<Address, Asked> = BTreeMap::new();
    for slot in 0..analysis.connections.all().len() {
        if analysis.connections.all()[slot].end != Some(End::Client) || asked_first.contains(&slot) {
            continue;
        }
        let messages = of_connection(analysis, analysis.connections.row(slot).id);
        if messages.is_empty() {
            continue;
        }
        let asked = questions::of_connection(analysis, slot).into_iter();
        for question in asked.filter(|one| spans::contain(&requests, one.start) && spans::contain(&requests, one.end)) {
            if let Some((target, length)) = answered(analysis, messages, &question) {
                let asked = all.entry((analysis.connections.remote(slot), target)).or_default();
                asked.questions.push(question);
                asked.lengths.insert(length);
            }
        }
    }
    all
}

fn of_connection<'r>(analysis: &Analysis<'r>, id: u32) -> &'r [HttpMessage] {
    let messages = &analysis.recording.http_messages;
    let first = messages.partition_point(|row| row.connection < id);
    let last = messages.partition_point(|row| row.connection <= id);
    &messages[first..last]
}

/// The address that was asked for, with GET and without a query, and the length of the answer, where it was given.
fn answered<'r>(analysis: &Analysis, messages: &'r [HttpMessage], question: &Question) -> Option<(&'r str, i64)> {
    let begun = analysis.call(question.row).start;
    let first = messages.partition_point(|row| row.time < begun);
    let within = messages[first..].iter().take_while(|row| row.time.0 <= question.end);
    let asked = within.clone().find(|row| row.direction == direction::OUT && row.status == 0)?;
    let answer = within.clone().find(|row| row.direction == direction::IN && row.status >= 200)?;
    let is_whole = asked.method == "GET" && !asked.target.is_empty() && !asked.target.contains('?');
    (is_whole && answer.status == 200).then_some((asked.target.as_str(), answer.content_length))
}

fn found(analysis: &Analysis, (remote, target): &Address, asked: &Asked, wall: u64) -> Found {
    let requests = analysis.exchanges.len() as u64;
    let count = asked.questions.len() as u64;
    let place = costly_call(analysis, asked.questions.iter().map(|one| (one.row, one.length())));
    let what = format!("Each request asks {remote} for {target} again");
    Found {
        title: of_every_request(analysis, &what, wall, &place),
        what,
        mechanism: vec![
            format!(
                "{} requests for {} different things come with {} questions for {target}, which take {} each: {} of the \
                 requests' time.",
                number::count(requests),
                number::count(targets_of_clients(analysis).len() as u64),
                number::count(count),
                Nanos(asked.whole() / count.max(1)),
                Share(wall as f64 / analysis.exchange_wall().max(1) as f64)
            ),
            format!(
                "Every answer has {}. Whether it depends on who asks cannot be seen from outside.",
                Bytes(asked.lengths.first().copied().unwrap_or_default().max(0) as u64)
            ),
        ],
        saving: PotentialSaving { wall, affected: count.min(requests), ..PotentialSaving::default() },
        place,
        remedy: "Keep the answer for as long as it is good (Cache-Control, ETag), or fetch it in the background."
            .to_string(),
        rows: rows("calls", asked.questions.iter().map(|one| one.row)),
        ..Found::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, EPOLL_WAIT, Fixture, MS, READ, SERVER, US, WRITE};
    use crate::tests::{answer, names};
    use case::tables::{HttpMessage, direction};
    use case::{Kind, Nanos, Recording};

    /// Twenty requests; for each the server asks another one, and works for a time.
    fn asking(work: u64, target: impl Fn(u32) -> String, inner: impl Fn(u32) -> (String, i64)) -> Recording {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        fixture.asks_elsewhere(7, 80);
        let mut idle = fixture.now;
        for number in 0..20 {
            let start = fixture.now;
            head(&mut fixture, 1, CLIENT, target(number));
            fixture.moves(CLIENT, 1, WRITE, 200);
            fixture.travels(start + 3 * US, 1, 1001, 200);
            let waiting = fixture.now;
            fixture.now = idle;
            fixture.waits(SERVER, start + 12 * US - idle, EPOLL_WAIT, |call| call.result = 1);
            fixture.moves(SERVER, 1001, READ, 200);
            let (asked, length) = inner(number);
            head(&mut fixture, 7, SERVER, asked);
            fixture.moves(SERVER, 7, WRITE, 100);
            answers(&mut fixture, length);
            fixture.waits_for(SERVER, 7, 2 * MS, length + 80);
            fixture.now += work;
            let answered = fixture.now;
            fixture.moves(SERVER, 1001, WRITE, 1000);
            fixture.travels(answered + 3 * US, 1001, 1, 1000);
            idle = fixture.now;
            fixture.now = waiting;
            fixture.waits_for(CLIENT, 1, answered + 12 * US - waiting, 1000);
            fixture.now += 20 * US;
        }
        fixture.recording.http_messages.sort_by_key(|row| (row.connection, row.time));
        fixture.end()
    }

    fn head(fixture: &mut Fixture, connection: u32, tid: u32, target: String) {
        let (time, method) = (Nanos(fixture.now), "GET".to_string());
        let direction = direction::OUT;
        let row = HttpMessage { time, connection, tid, direction, method, target, ..HttpMessage::default() };
        fixture.recording.http_messages.push(row);
    }

    fn answers(fixture: &mut Fixture, content_length: i64) {
        let (time, direction) = (Nanos(fixture.now), direction::IN);
        let head = HttpMessage { time, connection: 7, tid: SERVER, direction, ..HttpMessage::default() };
        fixture.recording.http_messages.push(HttpMessage { status: 200, content_length, ..head });
    }

    fn pages(number: u32) -> String {
        format!("/page/{number}")
    }

    fn is_found(recording: &Recording) -> bool {
        names(recording).contains(&"refetched-answers".to_string())
    }

    #[test]
    fn settings_that_are_fetched_for_each_request_are_found() {
        let answer = answer(&asking(MS, pages, |_| ("/settings".into(), 812)));
        let finding = answer.findings.iter().find(|one| one.name == "refetched-answers").expect("a finding");
        assert_eq!((finding.kind, finding.cost.affected), (Kind::Observation, 20));
        let begins = "Each request asks 10.0.0.3:80 for /settings again: 2.0";
        assert!(finding.title.starts_with(begins), "{}", finding.title);
    }

    #[test]
    fn what_is_fetched_between_requests_costs_none_of_them_anything() {
        let mut recording = asking(MS, pages, |_| ("/settings".into(), 812));
        assert!(is_found(&recording));
        let later = Nanos(10_000 * MS);
        recording.calls.iter_mut().filter(|call| call.connection == 7).for_each(|call| call.start += later);
        recording.http_messages.iter_mut().filter(|row| row.connection == 7).for_each(|row| row.time += later);
        recording.sort();
        assert!(!is_found(&recording));
    }

    #[test]
    fn what_may_depend_on_the_request_or_changes_is_left_alone() {
        assert!(!is_found(&asking(MS, |_| "/page".into(), |_| ("/settings".into(), 812))), "always the same request");
        assert!(!is_found(&asking(MS, pages, |number| (pages(number), 812))), "a proxy");
        assert!(!is_found(&asking(MS, pages, |number| ("/settings".into(), 800 + i64::from(number)))), "it changes");
        assert!(!is_found(&asking(MS, pages, |_| ("/settings?of=*".into(), 812))), "its query is not known");
        assert!(!is_found(&asking(20 * MS, pages, |_| ("/settings".into(), 812))), "it hardly matters");
    }
}
