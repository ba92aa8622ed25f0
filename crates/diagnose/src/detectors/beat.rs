//! Answers that leave when a clock says so, and not when they are ready.
//!
//! What tells a clock that runs by itself (a timer that looks for work, a limit of the rate) from a pause for each request: its
//! timer had been set before the request came; or who asks later waits for less, since the clock does not wait for him, while a
//! pause is as long whenever it begins. That is so in a queue as well, where a turn begins as the one before ends: requests
//! that saw others answered tell nothing.

mod deadlines;

use super::{Found, costly_call, rows};
use crate::analysis::ender::is_timed_out;
use crate::analysis::{Analysis, PotentialSaving};
use crate::connections::End;
use crate::exchange::Exchange;
use crate::number;
use crate::paced::read_and_written;
use crate::pauses;
use crate::pieces;
use crate::place::{Located, is_of_go_runtime};
use crate::syscall;
use crate::threads::{Cursor, State, call_end};
use crate::waits::{self, Stretch};
use case::Nanos;
use case::tables::Call;
use deadlines::Deadlines;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Fewer answers show no beat.
const LEAST: usize = 20;
/// The middle half of the beats lies within this part of their median: timers are late by less.
const EVEN: f64 = 0.1;
/// Shorter beats cannot be told from work.
const SHORTEST: u64 = 2_000_000;
/// This part of a beat at least is waited for by the median request: else it is not the clock that makes it slow.
const WAITED: f64 = 0.5;
/// So many of the answers must have waited for a time to pass.
const MOSTLY: f64 = 0.8;
/// Who asks later by some time waits less by that time: -1 for a clock, 0 for a pause. All of the interval must lie below this.
const LATER_WAITS_LESS: f64 = -0.5;
/// The confidence of that interval.
const CONFIDENCE: f64 = 0.99;

/// A request that its server had read, and what it waited for then.
struct Held<'a> {
    exchange: &'a Exchange,
    /// When it had been read.
    read: u64,
    /// When its answer was written.
    written: u64,
    /// When the server had written an answer last, before it read this one.
    since: Option<u64>,
    /// How long it waited until a time had passed, in nanoseconds; none where it was not followed.
    waited: Option<u64>,
    /// The longest of these waits: a row of the table of calls.
    timer: Option<usize>,
}

/// A server that answers at the beat of a clock.
pub(crate) struct Beat<'a> {
    /// The requests that waited for it, in order of their arrival.
    held: Vec<Held<'a>>,
    /// From one beat to the next, in nanoseconds.
    pub period: u64,
    /// Whether the timer had been set before the requests came that waited for it.
    is_set_before: bool,
    /// Whether who asks later waits for less, as far as that can be told.
    later_waits_less: bool,
    /// Whether requests that came when nobody had been answered for a period were let through at once.
    lets_the_first_pass: bool,
}

/// The first server that answers at a beat; none where its answers may have another reason to leave when they do.
pub(crate) fn of_a_server<'a>(analysis: &'a Analysis) -> Option<Beat<'a>> {
    let mut by_server: BTreeMap<(u32, u16), Vec<Held>> = BTreeMap::new();
    let mut multiplexed: FxHashMap<usize, bool> = FxHashMap::default();
    for exchange in analysis.exchanges.iter().filter(|exchange| exchange.answered) {
        // Where several are asked for at a time on a connection, which answer is whose is not known.
        let alone =
            |slot: &usize| !*multiplexed.entry(*slot).or_insert_with(|| pieces::is_multiplexed(analysis, *slot));
        let Some(slot) = analysis.server_slot(exchange).filter(alone) else { continue };
        let Some((read, written)) = read_and_written(analysis, exchange) else { continue };
        let row = analysis.connections.row(slot);
        let (read, written) = (call_end(read), written.start.0);
        let held = Held { exchange, read, written, since: None, waited: None, timer: None };
        by_server.entry((row.pid, row.local_port)).or_default().push(held);
    }
    by_server.into_values().find_map(|answers| of_answers(analysis, answers))
}

impl Beat<'_> {
    /// Whether it is a limit of the rate: nobody is held back by a timer that is set only when there is somebody to hold back.
    pub fn is_limit(&self) -> bool {
        self.lets_the_first_pass && !self.is_set_before
    }

    /// How it was told from a pause for each request.
    fn evidence(&self) -> String {
        let mut said = Vec::new();
        if self.later_waits_less {
            said.push("Who asked later waited for less.");
        }
        if self.is_set_before {
            said.push("The timer had been set before they came.");
        } else if self.lets_the_first_pass {
            said.push("A request that came when nobody had been answered for so long was let through at once.");
        }
        said.join(" ")
    }

    /// What a detector has found by it.
    pub fn found(&self, analysis: &Analysis, what: String, remedy: &str) -> Found {
        let timed = || self.held.iter().filter_map(|one| Some((one, one.timer?, one.waited?)));
        let followed = self.held.iter().filter(|one| one.waited.is_some()).count().max(1) as u64;
        let all = |sum: u64| sum / followed * self.held.len() as u64;
        let wall = all(timed().map(|(_, _, waited)| waited).sum());
        let place = place(analysis, || timed().map(|(_, row, waited)| (row, waited)));
        let count = analysis.exchanges.len().max(1) as u64;
        let mut lengths: Vec<u64> = timed().map(|(_, _, waited)| waited).collect();
        lengths.sort_unstable();
        let usual = Nanos(lengths.get(lengths.len() / 2).copied().unwrap_or_default());
        Found {
            title: format!(
                "{what}: {} of every {} request{}",
                Nanos(wall / count),
                Nanos(analysis.exchange_wall() / count),
                place.in_words()
            ),
            what,
            mechanism: vec![format!(
                "{} answers left at equal distances of {}, whenever their requests had come; until then the server only waited for \
                 time to pass (median {usual}). {}",
                number::count(self.held.len() as u64),
                Nanos(self.period),
                self.evidence(),
            )],
            saving: PotentialSaving { wall, affected: self.held.len() as u64, ..PotentialSaving::default() },
            place,
            remedy: remedy.to_string(),
            rows: rows("calls", timed().map(|(_, row, _)| row)),
            stalls: timed().map(|(one, _, _)| (one.exchange.start, one.exchange.end)).collect(),
            ..Found::default()
        }
    }
}

/// The line with which a server goes on when its time has come, else where it waits. A sleep is a line of the program's own; Go's
/// scheduler goes on with whoever is ready.
fn place<I: Iterator<Item = (usize, u64)>>(analysis: &Analysis, waits: impl Fn() -> I) -> Located {
    let begun = costly_call(analysis, waits());
    let first = begun.places.first();
    let is_asleep = || waits().all(|(row, _)| syscall::is_sleep(analysis.call(row).number));
    if first.is_some_and(|place| is_of_go_runtime(&place.function)) || is_asleep() {
        return begun;
    }
    let then = waits::after_time_outs(analysis, waits(), first);
    if then.places.is_empty() { begun } else { then }
}

impl Held<'_> {
    /// From the answer before until this one.
    fn beat(&self) -> Option<u64> {
        self.since.map(|since| self.written - since)
    }

    fn length(&self) -> u64 {
        self.written - self.read
    }

    /// Whether time had to pass before it was answered, where it was followed.
    fn is_timed(&self) -> Option<bool> {
        let waited = self.waited?;
        Some(self.timer.is_some() && waited as f64 >= WAITED * self.length() as f64)
    }
}

fn of_answers<'a>(analysis: &'a Analysis, mut answers: Vec<Held<'a>>) -> Option<Beat<'a>> {
    let mut written: Vec<u64> = answers.iter().map(|one| one.written).collect();
    written.sort_unstable();
    let all = answers.len();
    answers.retain_mut(|one| {
        let before = written.partition_point(|&time| time <= one.read);
        one.since = before.checked_sub(1).map(|last| written[last]);
        let soon = one.written - (EVEN * one.length() as f64) as u64;
        written.get(before).is_none_or(|&next| next >= soon)
    });
    if (answers.len() as f64) < MOSTLY * all as f64 {
        return None;
    }
    answers.sort_by_key(|one| one.read);
    let period = period(&answers)?;
    let is_next = |one: &Held| one.beat().is_some_and(|beat| beat < period + period / 2);
    let later_waits_less =
        later_waits_less(answers.iter().filter(|one| is_next(one))) && !are_asked_for_in_time(analysis, &answers);
    time(analysis, &mut answers);
    let (held, alone): (Vec<Held>, Vec<Held>) = answers.into_iter().partition(is_next);
    let [timed, not] = [true, false].map(|timed| count(&held, timed));
    let rows: Vec<(&Held, &Call)> = held.iter().filter_map(|one| Some((one, analysis.call(one.timer?)))).collect();
    let deadlines = Deadlines::new(analysis, &rows.iter().map(|(_, wait)| wait.pid).collect());
    let set_before = rows.iter().filter(|(one, wait)| deadlines.is_set_before(wait, one.read, period)).count();
    let is_set_before = set_before as f64 >= MOSTLY * rows.len() as f64;
    let at_once = alone.iter().filter(|one| one.timer.is_none() && one.length() < period / 2).count();
    let lets_the_first_pass = at_once * 2 > alone.len();
    let beat = Beat { held, period, is_set_before, later_waits_less, lets_the_first_pass };
    let is_timed = timed > 0 && timed as f64 >= MOSTLY * (timed + not) as f64;
    (is_timed && (later_waits_less || is_set_before)).then_some(beat)
}

/// How many of those that were followed were timed, or not.
fn count(answers: &[Held], timed: bool) -> usize {
    answers.iter().filter(|one| one.is_timed() == Some(timed)).count()
}

/// How long a beat takes, where the answers keep to one that they wait for.
fn period(answers: &[Held]) -> Option<u64> {
    let mut beats: Vec<u64> = answers.iter().filter_map(Held::beat).collect();
    let mut lengths: Vec<u64> = answers.iter().map(Held::length).collect();
    beats.sort_unstable();
    lengths.sort_unstable();
    let of = |part: usize| beats[beats.len() * part / 4];
    if beats.len() < LEAST || (of(3) - of(1)) as f64 > EVEN * of(2) as f64 {
        return None;
    }
    let waits = lengths[lengths.len() / 2] as f64 >= WAITED * of(2) as f64;
    (waits && of(2) >= SHORTEST).then(|| of(2))
}

/// Whether who asks later after the answer before waits for less.
fn later_waits_less<'a>(held: impl Iterator<Item = &'a Held<'a>>) -> bool {
    let points: Vec<(f64, f64)> =
        held.filter_map(|one| Some(((one.read - one.since?) as f64, one.length() as f64))).collect();
    let line = stats::least_squares(&points, CONFIDENCE);
    points.len() >= LEAST && line.is_some_and(|line| line.slope_interval.high < LATER_WAITS_LESS)
}

/// Whether whoever asks does so at times of his own: then one who was answered late asks again sooner.
fn are_asked_for_in_time(analysis: &Analysis, answers: &[Held]) -> bool {
    let pauses = |one: &&Held| {
        let exchange = one.exchange;
        let last = analysis.transfers(exchange).last().map(|&row| analysis.call(row as usize).tid);
        exchange.end_seen == End::Client
            && last.is_some_and(|tid| pauses::sleep_after(analysis, tid, exchange.end).is_some())
    };
    answers.iter().filter(pauses).count() * 2 > answers.len()
}

/// Notes of each request for how long it waited until a time had passed.
fn time(analysis: &Analysis, answers: &mut [Held]) {
    let mut places: FxHashMap<(usize, u64), usize> = FxHashMap::default();
    places
        .extend(answers.iter().enumerate().map(|(place, one)| ((one.exchange.connection, one.exchange.start), place)));
    waits::stretches_of_each(analysis, &mut |exchange, stretches| {
        let Some(&place) = places.get(&(exchange.connection, exchange.start)) else { return };
        let asking = (exchange.end_seen == End::Client).then(|| analysis.connections.row(exchange.connection).pid);
        answers[place].waited = Some(0);
        for stretch in stretches {
            if Some(analysis.threads.all()[stretch.thread].pid) != asking {
                note(analysis, &stretch, &mut answers[place]);
            }
        }
    });
}

fn note(analysis: &Analysis, stretch: &Stretch, held: &mut Held) {
    let (from, to) = (stretch.from.max(held.read), stretch.to.min(held.written));
    analysis.threads.walk(stretch.thread, from, to, &mut Cursor::default(), &mut |moment| {
        let timed = moment.call.filter(|&row| moment.state == State::Blocked && is_timed_out(analysis.call(row)));
        if let Some(row) = timed {
            held.waited = Some(held.waited.unwrap_or_default().saturating_add(moment.end - moment.start));
            let longer = |&one: &usize| analysis.call(one).blocked > analysis.call(row).blocked;
            held.timer = held.timer.filter(longer).or(Some(row));
        }
    });
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, EPOLL_WAIT, Fixture, MS, READ, SERVER, US, WRITE, request};
    use crate::tests::{answer, names};
    use case::tables::{Call, content};
    use case::{Nanos, Recording};

    const NANOSLEEP: u16 = 35;
    const PERIOD: u64 = 20 * MS;
    /// How long a client takes to ask again.
    const THINKING: [u64; 4] = [200 * US, 900 * US, 2 * MS, 400 * US];

    /// Forty requests of one client, each asked so long after the answer before, or after a sleep; the server waits for time to
    /// pass, until a moment of its choice. Before them one is answered at once, or none.
    fn asked(passes: bool, sleeps: u64, thinking: &[u64], until: impl Fn(u64) -> u64) -> Recording {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        let mut idle = fixture.now;
        if passes {
            request(&mut fixture, CLIENT, 1, 50 * US, &mut idle);
        }
        for turn in 0..40 {
            if sleeps > 0 {
                fixture.waits(CLIENT, sleeps, NANOSLEEP, |_| ());
            }
            fixture.now += thinking[turn % thinking.len()];
            let asked = fixture.now;
            fixture.moves(CLIENT, 1, WRITE, 200);
            fixture.travels(asked + 3 * US, 1, 1001, 200);
            fixture.now = asked + 12 * US;
            fixture.moves(SERVER, 1001, READ, 200);
            let length = until(fixture.now) - fixture.now;
            fixture.waits(SERVER, length, EPOLL_WAIT, |call| call.result = 0);
            let answered = fixture.now;
            fixture.moves(SERVER, 1001, WRITE, 300);
            fixture.travels(answered + 3 * US, 1001, 1, 300);
            fixture.now = asked + 5 * US;
            fixture.waits_for(CLIENT, 1, answered + 7 * US - asked, 300);
        }
        fixture.end()
    }

    /// A timer that ticks whatever happens.
    fn tick(now: u64) -> u64 {
        now.next_multiple_of(PERIOD)
    }

    #[test]
    fn answers_that_wait_for_the_tick_of_a_timer_are_found() {
        let answer = answer(&asked(false, 0, &THINKING, tick));
        let finding = answer.findings.iter().find(|one| one.name == "sleep-polling").expect("a finding");
        assert!(finding.title.contains("a timer of the server that ticks every 20.0 ms: 1"), "{}", finding.title);
        assert!((17 * MS..20 * MS).contains(&finding.cost.ns_per_exchange), "{:?}", finding.cost);
    }

    #[test]
    fn where_the_first_request_passes_it_is_a_limit_of_the_rate() {
        let answer = answer(&asked(true, 0, &THINKING, tick));
        let finding = answer.findings.iter().find(|one| one.name == "server-rate-limit").expect("a finding");
        assert!(finding.title.contains("lets one request through every 20.0 ms"), "{}", finding.title);
    }

    #[test]
    fn streams_that_share_a_connection_are_in_a_queue_that_is_not_seen() {
        let mut recording = asked(true, 0, &THINKING, tick);
        let first = recording.calls.iter_mut().find(|call| call.connection == 1 && call.number == WRITE);
        first.expect("a request").content = content::HTTP2_PREFACE;
        assert!(!is_found(&recording));
    }

    fn is_found(recording: &Recording) -> bool {
        names(recording).iter().any(|name| name == "sleep-polling" || name == "server-rate-limit")
    }

    #[test]
    fn a_pause_for_each_request_is_left_alone_and_so_is_what_could_be_one() {
        assert!(is_found(&asked(false, 0, &THINKING, tick)));
        assert!(!is_found(&asked(false, 0, &THINKING, |now| now + PERIOD)));
        assert!(!is_found(&asked(true, 0, &THINKING, |now| now + PERIOD)));
        assert!(!is_found(&asked(false, 0, &[300 * US], tick)), "it asks at the same beat");
    }

    #[test]
    fn a_timer_that_was_set_before_is_told_from_a_pause_also_by_a_client_that_keeps_its_beat() {
        // What the server waits in until a request comes, with a time-out.
        let waiting = |timeout: u64| {
            let mut recording = asked(true, 0, &[300 * US], tick);
            let waits: Vec<Call> =
                recording.calls.iter().filter(|call| call.tid == SERVER && call.result == 0).cloned().collect();
            for wait in waits {
                let start = Nanos(tick(wait.start.0) - PERIOD + 40 * US);
                let blocked = Nanos(100 * US);
                recording.calls.push(Call {
                    start,
                    blocked,
                    duration: blocked,
                    result: 1,
                    argument_2: timeout,
                    ..wait
                });
            }
            recording.sort();
            recording
        };
        assert!(names(&waiting(PERIOD)).contains(&"sleep-polling".to_string()));
        assert!(!is_found(&waiting(u64::MAX)));
        assert!(!is_found(&waiting(3 * PERIOD / 2)), "another timer");
    }

    #[test]
    fn a_client_that_asks_at_times_of_its_own_tells_nothing_of_the_server() {
        assert!(!is_found(&asked(false, 5 * MS, &THINKING, tick)));
    }
}
