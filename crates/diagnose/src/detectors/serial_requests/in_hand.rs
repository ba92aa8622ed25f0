//! A server that asks another one again and again while it answers one request: a query for each row of a list.

use super::{HABIT, without_the_answers_work};
use crate::analysis::{Analysis, PotentialSaving};
use crate::connections::End;
use crate::detectors::{Found, costly_call, median, rows};
use crate::exchange::Exchange;
use crate::questions::{self, Question};
use case::Nanos;
use std::collections::BTreeMap;

/// Questions of one shape are as long as each other, but for the digits of a number.
const SAME_SHAPE: u64 = 8;

/// Of the questions of a request so many have the same shape.
const MOSTLY: f64 = 0.8;

/// One in so many questions is answered this quickly or more so: the very quickest may be a slip of the clock.
const QUICK: usize = 10;

/// What the requests of one server ask one peer.
#[derive(Default)]
struct Asking {
    counts: Vec<u64>,
    /// All but the first question of each request.
    later: Vec<Question>,
    requests: u64,
}

impl Asking {
    /// What a question costs for being asked alone: the way there and back, calls and wake-ups, and what the peer does for each
    /// whatever it is. No more than the time that the quickest of them take.
    fn each(&self, analysis: &Analysis) -> u64 {
        let mut lengths: Vec<u64> = self.later.iter().map(|one| length(analysis, one)).collect();
        lengths.sort_unstable();
        lengths.get(lengths.len() / QUICK).copied().unwrap_or_default()
    }

    /// What asking for all at once could save: the rest of the peer's work is done there, too.
    fn bound(&self, analysis: &Analysis) -> u64 {
        let each = self.each(analysis);
        self.later.iter().map(|one| length(analysis, one).min(each)).sum()
    }

    fn whole(&self) -> u64 {
        self.later.iter().map(Question::length).sum()
    }
}

fn length(analysis: &Analysis, question: &Question) -> u64 {
    without_the_answers_work(analysis, question.slot, (question.start, question.end))
}

/// Finds the peer that most time is spent asking.
pub fn find(analysis: &Analysis) -> Option<Found> {
    let questions = by_thread(analysis);
    let mut peers: BTreeMap<String, Asking> = BTreeMap::new();
    for exchange in &analysis.exchanges {
        for (peer, asked) in of_exchange(analysis, &questions, exchange) {
            if asked.len() >= HABIT && are_alike(&asked) {
                let asking = peers.entry(peer).or_default();
                asking.counts.push(asked.len() as u64);
                asking.later.extend(&asked[1..]);
                asking.requests += 1;
            }
        }
    }
    // One request that asks much among many that do not is a page of its own.
    let is_habit = |asking: &Asking| asking.requests * 2 >= analysis.exchanges.len() as u64;
    let wall = |asking: &Asking| asking.bound(analysis);
    let (peer, asking) = peers.iter().filter(|(_, asking)| is_habit(asking)).max_by_key(|(_, asking)| wall(asking))?;
    Some(found(analysis, peer, asking, wall(asking)))
}

/// The questions of each thread that asks others, in order of time.
fn by_thread(analysis: &Analysis) -> BTreeMap<u32, Vec<Question>> {
    let mut questions: BTreeMap<u32, Vec<Question>> = BTreeMap::new();
    for slot in 0..analysis.connections.all().len() {
        // Between two messages of the connection a thread can ask only one question.
        if analysis.connections.all()[slot].end != Some(End::Client) {
            continue;
        }
        for question in questions::of_connection(analysis, slot) {
            questions.entry(analysis.call(question.row).tid).or_default().push(question);
        }
    }
    for asked in questions.values_mut() {
        asked.sort_by_key(|one| one.start);
    }
    questions
}

/// What the threads that answer an exchange asked each peer meanwhile, one question after the other.
fn of_exchange(
    analysis: &Analysis,
    questions: &BTreeMap<u32, Vec<Question>>,
    exchange: &Exchange,
) -> BTreeMap<String, Vec<Question>> {
    let mut tids: Vec<u32> =
        analysis.server_transfers(exchange).iter().map(|&row| analysis.call(row as usize).tid).collect();
    tids.sort_unstable();
    tids.dedup();
    let mut by_peer: BTreeMap<String, Vec<Question>> = BTreeMap::new();
    for asked in tids.iter().filter_map(|tid| questions.get(tid)) {
        let first = asked.partition_point(|one| one.start < exchange.start);
        for one in asked[first..].iter().take_while(|one| one.end <= exchange.end) {
            by_peer.entry(analysis.connections.remote(one.slot)).or_default().push(*one);
        }
    }
    by_peer.retain(|_, asked| asked.windows(2).all(|pair| pair[0].end <= pair[1].start));
    by_peer
}

/// Whether most questions are as long as the middle one.
fn are_alike(asked: &[Question]) -> bool {
    let usual = median(asked.iter().map(|one| one.bytes).collect());
    let alike = asked.iter().filter(|one| one.bytes.abs_diff(usual) <= SAME_SHAPE).count();
    alike as f64 >= MOSTLY * asked.len() as f64
}

fn found(analysis: &Analysis, peer: &str, asking: &Asking, wall: u64) -> Found {
    let each = median(asking.counts.clone());
    let count = analysis.exchanges.len().max(1) as u64;
    let later = &asking.later;
    let place = costly_call(analysis, later.iter().map(|one| (one.row, one.length())));
    let mean = Nanos(asking.whole() / (later.len() as u64).max(1));
    let what = format!("Each request asks {peer} {each} questions of one shape, one after another");
    Found {
        title: format!(
            "{what}: {} of every {} request{}",
            Nanos(wall / count),
            Nanos(analysis.exchange_wall() / count),
            place.in_words(),
        ),
        what,
        mechanism: vec![
            format!("An answer takes {mean}, and the next question follows; they are as long as each other."),
            format!(
                "A tenth of them take {} or less, whatever is asked for: that much at most a question costs for being asked alone, \
                 and asking for all at once saves it; the rest is work that stays.",
                Nanos(asking.each(analysis))
            ),
            "Whether one needs the answer to another cannot be seen from outside.".to_string(),
        ],
        saving: PotentialSaving { wall, outside: 0, cpu: 0, affected: asking.requests },
        place,
        remedy:
            "Ask once for all of it (a join, WHERE id IN (...), a batch, a pipeline), or keep what does not change."
                .to_string(),
        rows: rows("calls", later.iter().map(|one| one.row)),
        ..Found::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, EPOLL_WAIT, Fixture, READ, SERVER, US, WRITE};
    use crate::tests::{answer, names};

    /// Twenty requests; for each the server asks a database that was not recorded, so many questions as long as
    /// `length` says.
    fn asking(questions: u32, length: impl Fn(u32) -> i64) -> Fixture {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        fixture.asks_elsewhere(7, 5432);
        let mut idle = fixture.now;
        for _ in 0..20 {
            let start = fixture.now;
            fixture.moves(CLIENT, 1, WRITE, 200);
            fixture.travels(start + 3 * US, 1, 1001, 200);
            fixture.acknowledges(start + 10 * US, 1001, 1);
            let waiting = fixture.now;
            fixture.now = idle;
            fixture.waits(SERVER, start + 12 * US - idle, EPOLL_WAIT, |call| call.result = 1);
            fixture.moves(SERVER, 1001, READ, 200);
            for number in 0..questions {
                fixture.moves(SERVER, 7, WRITE, length(number));
                fixture.waits_for(SERVER, 7, 200 * US, 300);
            }
            fixture.now += 500 * US;
            let answered = fixture.now;
            fixture.moves(SERVER, 1001, WRITE, 1000);
            fixture.travels(answered + 3 * US, 1001, 1, 1000);
            idle = fixture.now;
            fixture.now = waiting;
            fixture.waits_for(CLIENT, 1, answered + 12 * US - waiting, 1000);
            fixture.now += 20 * US;
        }
        fixture
    }

    #[test]
    fn a_query_for_each_row_is_found_with_its_number() {
        let answer = answer(&asking(41, |number| 60 + i64::from(number) % 3).end());
        let finding = answer.findings.iter().find(|finding| finding.name == "serial-requests").expect("found");
        let begins = "Each request asks 10.0.0.3:5432 41 questions of one shape, one after another: 8.20 ms of every";
        assert!(finding.title.starts_with(begins), "{}", finding.title);
        assert_eq!(finding.cost.affected, 20);
    }

    #[test]
    fn what_the_peer_works_for_an_answer_is_not_saved() {
        // Every second answer takes five times as long.
        let mut recording = asking(41, |_| 60).end();
        let mut slow = 0;
        for call in recording.calls.iter_mut().filter(|call| call.tid == SERVER && call.connection == 7) {
            if call.number == READ {
                slow += 1;
                let by = if slow % 2 == 0 { 150 * US } else { 0 };
                (call.duration, call.blocked) = (call.duration - case::Nanos(by), call.blocked - case::Nanos(by));
            }
        }
        let answer = answer(&recording);
        let finding = answer.findings.iter().find(|finding| finding.name == "serial-requests").expect("found");
        // 40 later questions of 55 us, and not of 55 and 205.
        assert!(finding.title.contains("another: 2.20 ms of every"), "{}", finding.title);
        assert!(finding.mechanism[1].starts_with("A tenth of them take 55.0 us or less"), "{:?}", finding.mechanism);
    }

    #[test]
    fn a_few_queries_and_many_different_ones_are_left_alone() {
        assert_eq!(names(&asking(3, |_| 60).end()), Vec::<String>::new());
        assert_eq!(names(&asking(20, |number| 60 + 40 * i64::from(number)).end()), Vec::<String>::new());
    }
}
