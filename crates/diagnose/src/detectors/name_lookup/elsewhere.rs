//! Look-ups that a server's requests wait for elsewhere than in the thread that answers them: in a pool's, as libuv's (Node),
//! in whichever thread waits for events (Go), or in an event loop of their own.
//!
//! A wait is one for a look-up if what ended it is a message of one: the answer that is read next, or, after a time-out, the same
//! question asked again.

use super::{Span, UNANSWERED};
use crate::analysis::Analysis;
use crate::lookups::{self, Wait};
use crate::spans;
use crate::syscall;
use crate::threads::{Cursor, State};
use crate::waits::{self, Stretch};
use case::tables::{Lookup, direction};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Whoever waited goes on with the message in less than this, in nanoseconds, also where it has to wait for a processor.
const GOES_ON: u64 = 5_000_000;
/// One in so many requests at least asks for a name: fewer questions are a matter of the server's own, in the background.
const ASKS: usize = 2;
/// So many questions are open at a time: of more, the oldest has been given up.
const MOST_OPEN: usize = 1_000;

/// A message that can end a wait: when it was read or sent, and the question that it answers or repeats.
struct Ending {
    at: u64,
    asked: u64,
    question: usize,
}

/// What requests wait for elsewhere.
#[derive(Default)]
pub(super) struct Elsewhere {
    /// The waits, each once.
    pub waits: Vec<Wait>,
    /// How long all requests waited in them, in nanoseconds: whoever waits for several names at once does so once.
    pub wall: u64,
    /// How many requests waited.
    pub affected: u64,
}

/// What is looked up otherwise than by threads in spans of their own, which are counted already.
pub(super) fn find(analysis: &Analysis, counted: &[Span]) -> Elsewhere {
    let endings = endings(analysis, counted);
    if endings.values().map(Vec::len).sum::<usize>() * ASKS < analysis.exchanges.len() {
        return Elsewhere::default();
    }
    let (mut waits, mut wall, mut affected) = (BTreeMap::new(), 0.0, 0.0);
    let stands_for = waits::stretches_of_each(analysis, &mut |exchange, stretches| {
        let mut spans = Vec::new();
        for stretch in stretches {
            if let Some(endings) = endings.get(&analysis.threads.all()[stretch.thread].pid) {
                of_stretch(analysis, &stretch, endings, &mut spans, &mut waits);
            }
        }
        let waited = spans::length(spans::within(&spans::merge(spans), exchange.start, exchange.end));
        wall += waited as f64;
        affected += f64::from(u8::from(waited > 0));
    });
    let all = |sum: f64| (sum * stands_for) as u64;
    Elsewhere { waits: waits.into_values().collect(), wall: all(wall), affected: all(affected) }
}

/// A question without an answer so far.
struct Open<'r> {
    question: &'r Lookup,
    row: usize,
    at: u64,
}

/// By thread, in order of time.
fn by_thread(counted: &[Span]) -> FxHashMap<u32, Vec<(u64, u64)>> {
    let mut by_thread: FxHashMap<u32, Vec<(u64, u64)>> = FxHashMap::default();
    for span in counted {
        by_thread.entry(span.tid.unwrap_or_default()).or_default().push((span.start, span.end));
    }
    by_thread.into_iter().map(|(tid, spans)| (tid, spans::merge(spans))).collect()
}

/// By process, in order of time.
fn endings(analysis: &Analysis, counted: &[Span]) -> FxHashMap<u32, Vec<Ending>> {
    let slots = analysis.exchanges.iter().filter_map(|exchange| analysis.server_slot(exchange));
    let servers: FxHashSet<u32> = slots.map(|slot| analysis.connections.row(slot).pid).collect();
    let counted = by_thread(counted);
    let is_counted = |tid: u32, at: u64| {
        let spans = counted.get(&tid).map_or(&[][..], Vec::as_slice);
        spans[..spans.partition_point(|span| span.0 <= at)].last().is_some_and(|span| at <= span.1)
    };
    let mut open: FxHashMap<u32, Vec<Open>> = FxHashMap::default();
    let mut endings: FxHashMap<u32, Vec<Ending>> = FxHashMap::default();
    for (row, message) in analysis.recording.lookups.iter().enumerate() {
        let Some(pid) = analysis.threads.get(message.tid).map(|thread| thread.pid) else { continue };
        let at = lookups::time(analysis.recording, message);
        if !servers.contains(&pid) || is_counted(message.tid, at) {
            continue;
        }
        let open = open.entry(pid).or_default();
        if let Some(place) = open.iter().position(|one| one.is_over(message, at)) {
            let over = open.remove(place);
            endings.entry(pid).or_default().push(Ending { at, asked: over.at, question: over.row });
        }
        if message.direction == direction::OUT {
            if open.len() == MOST_OPEN {
                open.remove(0);
            }
            open.push(Open { question: message, row, at });
        }
    }
    for endings in endings.values_mut() {
        endings.sort_by_key(|one| one.at);
    }
    endings
}

impl Open<'_> {
    /// Whether a message ends the wait for an answer: the answer does, and the same question once nothing has come for long. Who asks
    /// again may do so from another socket, or another thread.
    fn is_over(&self, message: &Lookup, at: u64) -> bool {
        let asked = self.question;
        if message.direction == direction::IN {
            return (asked.connection, asked.message) == (message.connection, message.message);
        }
        let is_same = asked.record_type == message.record_type && asked.name.eq_ignore_ascii_case(&message.name);
        is_same && at.saturating_sub(self.at) >= UNANSWERED
    }
}

fn of_stretch(
    analysis: &Analysis,
    stretch: &Stretch,
    endings: &[Ending],
    spans: &mut Vec<(u64, u64)>,
    waits: &mut BTreeMap<(usize, u64), Wait>,
) {
    analysis.threads.walk(stretch.thread, stretch.from, stretch.to, &mut Cursor::default(), &mut |moment| {
        let number = moment.call.map(|row| analysis.call(row).number);
        let for_events = number.is_some_and(|number| syscall::is_poll(number) || syscall::is_read(number));
        if moment.state != State::Blocked || !for_events {
            return;
        }
        let first = endings.partition_point(|one| one.at < moment.end);
        let ending = endings.get(first).filter(|one| one.at <= moment.end.saturating_add(GOES_ON));
        if let Some(ending) = ending.filter(|one| one.asked < moment.end) {
            let wait = Wait { row: ending.question, start: ending.asked.max(moment.start), end: moment.end };
            spans.push((wait.start, wait.end));
            waits.insert((wait.row, wait.end), wait);
        }
    });
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, EPOLL_WAIT, Fixture, MS, READ, SERVER, US, WRITE, request};
    use crate::tests::answer;
    use case::tables::direction::{IN, OUT};
    use case::tables::{Call, Thread};
    use case::{Answer, Finding, Nanos};

    /// Another thread of the server.
    const POOL: u32 = SERVER + 1;
    const POLL: u16 = 7;

    fn pool(call: &mut Call) {
        (call.pid, call.argument_1) = (SERVER, 1);
    }

    /// Twenty requests of 10 ms; what happens in each from half a millisecond on.
    fn requests(mut meanwhile: impl FnMut(&mut Fixture)) -> Answer {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        let start = Nanos(fixture.now);
        fixture.recording.threads.push(Thread { tid: POOL, pid: SERVER, start, ..Thread::default() });
        let mut idle = fixture.now;
        for _ in 0..20 {
            let start = fixture.now;
            request(&mut fixture, CLIENT, 1, 10 * MS, &mut idle);
            let end = fixture.now;
            fixture.now = start + MS / 2;
            meanwhile(&mut fixture);
            fixture.now = end + 20 * US;
        }
        fixture.off(SERVER, idle, fixture.now + MS);
        answer(&fixture.end())
    }

    fn found(answer: &Answer) -> Option<&Finding> {
        answer.findings.iter().find(|finding| finding.name == "name-lookup")
    }

    /// A thread of the pool asks, and has the answer after so long.
    fn look_up(fixture: &mut Fixture, length: u64) {
        fixture.lookup(POOL, fixture.now, OUT, "db.example", 0);
        fixture.waits(POOL, length, POLL, pool);
        fixture.lookup(POOL, fixture.now + US, IN, "db.example", 0);
    }

    #[test]
    fn a_name_that_a_pool_looks_up_for_a_loop_which_waits_for_it_is_found() {
        let answer = requests(|fixture| {
            let start = fixture.now;
            look_up(fixture, 8 * MS);
            let woken = fixture.now + 20 * US;
            fixture.does(POOL, 30 * US, WRITE, pool);
            fixture.now = start;
            fixture.waits(SERVER, woken + US - start, EPOLL_WAIT, |call| call.result = 1);
            fixture.recording.switches.last_mut().expect("it waited").waker = POOL;
            // The loop's eventfd.
            fixture.does(SERVER, US, READ, |call| (call.fd, call.result) = (9, 8));
        });
        let finding = found(&answer).expect("it is found");
        assert_eq!(finding.cost.affected, 20);
        assert!((7 * MS..=8 * MS).contains(&finding.cost.ns_per_exchange), "{:?}", finding.cost);
    }

    #[test]
    fn a_loop_that_waits_for_an_answer_itself_is_found() {
        let answer = requests(|fixture| {
            fixture.lookup(SERVER, fixture.now, OUT, "db.example", 0);
            fixture.waits(SERVER, 8 * MS, EPOLL_WAIT, |call| call.result = 1);
            fixture.lookup(SERVER, fixture.now + US, IN, "db.example", 0);
        });
        let finding = found(&answer).expect("it is found");
        assert!((7 * MS..=8 * MS).contains(&finding.cost.ns_per_exchange), "{:?}", finding.cost);
    }

    #[test]
    fn a_name_that_is_looked_up_while_the_server_computes_is_left_alone() {
        assert_eq!(found(&requests(|fixture| look_up(fixture, 8 * MS))), None);
    }

    #[test]
    fn names_that_only_some_requests_coincide_with_are_the_servers_own_matter() {
        let mut number = 0;
        let answer = requests(|fixture| {
            number += 1;
            if number % 3 == 0 {
                fixture.lookup(SERVER, fixture.now, OUT, "db.example", 0);
            }
            fixture.waits(SERVER, 8 * MS, EPOLL_WAIT, |call| call.result = 1);
            if number % 3 == 0 {
                fixture.lookup(SERVER, fixture.now + US, IN, "db.example", 0);
            }
        });
        assert_eq!(found(&answer), None);
    }
}
