//! Answers that a server sends in parts, with a pause of its own before each: the bytes could go, and it waits for its clock.

use crate::analysis::ender::is_timed_out;
use crate::analysis::{Analysis, PotentialSaving};
use crate::detectors::{Found, costly_call, median, rows};
use crate::exchange::Exchange;
use crate::number;
use crate::syscall;
use crate::threads::call_end;
use case::tables::Call;
use case::{Nanos, Share};

/// A shorter pause is the time that a timer takes to be set up and to end.
const PAUSE: u64 = 1_000_000;
/// Fewer pauses in one answer are steps of what is done for it.
const PAUSES: usize = 5;
/// Of a stretch between two writes this much is spent waiting for the clock: else something is done meanwhile.
const MOSTLY: f64 = 0.8;
/// Pauses are even where the middle half of them lies within this part of the middle one.
const EVEN: f64 = 0.5;
/// Parts are this many bytes on average: an event stream has fewer to say at a time, and says it when there is something.
const LEAST_PART: u64 = 4_096;
/// Of few pauses in each answer, those of all are as long as the parts before them: the rate is one within this part of the middle
/// one, while the parts differ by this factor or more. A pause of one length before parts of one length shows no rate.
const ONE_RATE: f64 = 0.1;
const DIFFER: f64 = 1.5;
/// Where less of all requests' time goes by in pauses, something else makes them slow.
const LEAST_SHARE: f64 = 0.3;

/// An answer in parts.
struct Parts<'a> {
    exchange: &'a Exchange,
    /// The waits between its parts, each with its length: rows of calls.
    pauses: Vec<(usize, u64)>,
    /// The bytes written just before each of them.
    before: Vec<u64>,
    bytes: u64,
}

pub(super) fn detect(analysis: &Analysis) -> Option<Found> {
    let all: Vec<Parts> = analysis.exchanges.iter().filter_map(|one| parts(analysis, one)).collect();
    let is_one_rate = is_one_rate(&all);
    let answers: Vec<Parts> = all.into_iter().filter(|one| is_one_rate || is_even(one)).collect();
    let pauses = || answers.iter().flat_map(|one| one.pauses.iter().copied());
    let wall: u64 = pauses().map(|(_, length)| length).sum();
    let (count, whole) = (analysis.exchanges.len().max(1) as u64, analysis.exchange_wall());
    if (wall as f64) < LEAST_SHARE * whole as f64 || answers.is_empty() {
        return None;
    }
    let place = costly_call(analysis, pauses());
    let usual = Nanos(median(pauses().map(|(_, length)| length).collect()));
    let time: u64 = answers.iter().map(|one| one.exchange.length()).sum();
    let bytes: u64 = answers.iter().map(|one| one.bytes).sum();
    let rate = number::per_second(bytes as f64 / time.max(1) as f64);
    let what = format!("The server sends its answers in parts, and pauses {usual} before each");
    Some(Found {
        title: format!("{what}: {} of every {} request{}", Nanos(wall / count), Nanos(whole / count), place.in_words()),
        what,
        mechanism: vec![format!(
            "{} of {} answers have {} pauses in them, each ended by the server's own clock, which make up {} of their time: the result \
             is {rate}. No write was refused before them: network and client would take more.",
            number::count(answers.len() as u64),
            number::count(count),
            number::count(median(answers.iter().map(|one| one.pauses.len() as u64).collect())),
            Share(wall as f64 / time.max(1) as f64),
        )],
        saving: PotentialSaving { wall, affected: answers.len() as u64, ..PotentialSaving::default() },
        place,
        remedy: "Raise the server's limit of the rate (nginx: limit_rate; limit_rate_after lets the beginning through), or send \
                 without a pause and leave the pace to TCP."
            .to_string(),
        rows: rows("calls", pauses().map(|(row, _)| row)),
        stalls: answers.iter().map(|one| (one.exchange.start, one.exchange.end)).collect(),
        ..Found::default()
    })
}

/// Whether there are many pauses in an answer, and of one length.
fn is_even(parts: &Parts) -> bool {
    let mut lengths: Vec<u64> = parts.pauses.iter().map(|(_, length)| *length).collect();
    lengths.sort_unstable();
    let of = |part: usize| lengths.get(lengths.len() * part / 4).copied().unwrap_or_default();
    lengths.len() >= PAUSES && (of(3) - of(1)) as f64 <= EVEN * of(2) as f64
}

/// Whether the pauses of all answers are as long as the parts before them, and these differ.
fn is_one_rate(all: &[Parts]) -> bool {
    let pairs = || all.iter().flat_map(|one| one.before.iter().zip(&one.pauses));
    let mut rates: Vec<f64> = pairs().map(|(bytes, (_, length))| *bytes as f64 / *length as f64).collect();
    rates.sort_unstable_by(f64::total_cmp);
    let of = |part: usize| rates.get(rates.len() * part / 4).copied().unwrap_or_default();
    let (least, most) = (pairs().map(|(bytes, _)| *bytes).min(), pairs().map(|(bytes, _)| *bytes).max());
    let differ = least.zip(most).is_some_and(|(least, most)| least > 0 && most as f64 >= DIFFER * least as f64);
    rates.len() >= PAUSES && differ && of(3) - of(1) <= ONE_RATE * of(2)
}

/// An answer whose parts are apart by pauses of the server's own clock; none where it is sent otherwise.
fn parts<'a>(analysis: &Analysis, exchange: &'a Exchange) -> Option<Parts<'a>> {
    let is_write = |row: &usize| syscall::is_write(analysis.call(*row).number);
    let writes: Vec<usize> =
        analysis.server_transfers(exchange).iter().map(|&row| row as usize).filter(is_write).collect();
    let bytes_of = |row: usize| u64::try_from(analysis.call(row).result).unwrap_or_default();
    let paused = writes.windows(2).filter_map(|pair| Some((pause(analysis, pair[0], pair[1])?, bytes_of(pair[0]))));
    let (pauses, before): (Vec<(usize, u64)>, Vec<u64>) = paused.unzip();
    let bytes: u64 = writes.iter().map(|&row| bytes_of(row)).sum();
    let are_large = bytes >= LEAST_PART * (pauses.len() as u64 + 1);
    (!pauses.is_empty() && are_large).then_some(Parts { exchange, pauses, before, bytes })
}

/// The longest wait for a time to pass between two writes of one thread, with its length; none where the thread did something else
/// for longer, or its writes were refused.
fn pause(analysis: &Analysis, before: usize, after: usize) -> Option<(usize, u64)> {
    let (first, last) = (analysis.call(before), analysis.call(after));
    let (from, to) = (call_end(first), last.start.0);
    if first.tid != last.tid || before >= after || to < from.saturating_add(PAUSE) {
        return None;
    }
    let between = || (before + 1..after).map(|row| (row, analysis.call(row)));
    // Who is refused waits for room: for the client to read, or the network to carry.
    let is_refused = |call: &Call| syscall::is_write(call.number) && call.result < 0;
    if between().any(|(_, call)| is_refused(call)) {
        return None;
    }
    let timed = || between().filter(|(_, call)| is_timed_out(call));
    let waited: u64 = timed().map(|(_, call)| call.blocked.0).sum();
    let (row, _) = timed().max_by_key(|(_, call)| call.blocked)?;
    (waited as f64 >= MOSTLY * (to - from) as f64).then_some((row, waited))
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, EPOLL_WAIT, Fixture, MS, READ, SERVER, US, WRITE};
    use crate::syscall::EAGAIN;
    use crate::tests::{answer, names};
    use case::Recording;

    const NANOSLEEP: u16 = 35;

    /// What the server does between two parts of an answer.
    #[derive(Clone, Copy, PartialEq)]
    enum Between {
        Sleeps,
        /// A poll ends by time.
        Polls,
        /// A poll ends since there is room again, or since a disk has what was asked for.
        IsWoken,
        Computes,
        /// It sleeps since a write was refused.
        IsRefused,
    }

    /// Four answers of ten parts, each so long after the one before; the last part is later by as much again each time where they are
    /// uneven.
    fn answers(between: Between, pauses: &[u64]) -> Recording {
        in_parts_of(60_000, between, pauses)
    }

    fn in_parts_of(bytes: i64, between: Between, pauses: &[u64]) -> Recording {
        in_these_parts(&[bytes; 10], between, pauses)
    }

    /// The same of parts with so many bytes each.
    fn in_these_parts(parts: &[i64], between: Between, pauses: &[u64]) -> Recording {
        let mut fixture = Fixture::new();
        fixture.script(6, &["server.py:11:serve"]);
        fixture.connect(1, CLIENT);
        for _ in 0..4 {
            let start = fixture.now;
            fixture.moves(CLIENT, 1, WRITE, 200);
            fixture.travels(start + 3 * US, 1, 1001, 200);
            fixture.now = start + 12 * US;
            fixture.does(SERVER, 5 * US, READ, |call| (call.connection, call.fd, call.result) = (1001, 9, 200));
            for (part, &bytes) in parts.iter().enumerate() {
                let at = fixture.now;
                fixture.moves(SERVER, 1001, WRITE, bytes);
                fixture.travels(at + 3 * US, 1001, 1, bytes as u32);
                let pause = pauses[part % pauses.len()];
                let place = |call: &mut case::tables::Call| call.script_stack = 6;
                if part + 1 == parts.len() {
                    continue;
                }
                match between {
                    Between::Computes => fixture.now += pause,
                    Between::Polls => {
                        fixture.waits(SERVER, pause, EPOLL_WAIT, place);
                    }
                    Between::IsWoken => {
                        fixture.waits(SERVER, pause, EPOLL_WAIT, |call| (call.script_stack, call.result) = (6, 1));
                    }
                    Between::Sleeps | Between::IsRefused => {
                        if between == Between::IsRefused {
                            fixture.moves(SERVER, 1001, WRITE, EAGAIN);
                        }
                        fixture.waits(SERVER, pause, NANOSLEEP, place);
                    }
                }
            }
            let end = fixture.now;
            fixture.now = start + 6 * US;
            fixture.waits_for(CLIENT, 1, end + 12 * US - fixture.now, 600_000);
            fixture.off(SERVER, end + 10 * US, end + 90 * US);
            fixture.now = end + 100 * US;
        }
        fixture.end()
    }

    fn is_found(between: Between, pauses: &[u64]) -> bool {
        names(&answers(between, pauses)).contains(&"server-rate-limit".to_string())
    }

    #[test]
    fn an_answer_in_parts_with_even_pauses_of_the_servers_clock_is_found() {
        for between in [Between::Sleeps, Between::Polls] {
            let answer = answer(&answers(between, &[20 * MS]));
            let finding = answer.findings.iter().find(|one| one.name == "server-rate-limit");
            let finding = finding.unwrap_or_else(|| panic!("{answer:#?}"));
            assert!(finding.cost.share_of_wall > 0.9, "{finding:#?}");
            assert_eq!((finding.place[0].line, finding.place[0].function.as_str()), (11, "serve"));
        }
    }

    #[test]
    fn few_pauses_in_each_answer_that_are_as_long_as_the_parts_before_them_are_a_rate() {
        let is_found = |parts: &[i64], pauses: &[u64]| {
            let recording = in_these_parts(parts, Between::Polls, pauses);
            names(&recording).contains(&"server-rate-limit".to_string())
        };
        assert!(is_found(&[33_000, 66_000, 1_700], &[80 * MS, 160 * MS]));
        assert!(!is_found(&[33_000, 66_000, 1_700], &[80 * MS, 80 * MS]), "as long whatever was sent");
        assert!(!is_found(&[33_000, 33_000, 33_000], &[80 * MS, 80 * MS]), "all the same");
    }

    #[test]
    fn parts_that_wait_for_something_else_than_the_clock_are_left_alone() {
        for between in [Between::IsWoken, Between::Computes, Between::IsRefused] {
            assert!(!is_found(between, &[20 * MS]));
        }
    }

    #[test]
    fn an_event_stream_that_beats_regularly_is_no_pace() {
        assert!(!names(&in_parts_of(80, Between::Sleeps, &[20 * MS])).contains(&"server-rate-limit".to_string()));
    }

    #[test]
    fn pauses_of_any_length_are_no_pace() {
        assert!(!is_found(Between::Sleeps, &[5 * MS, 40 * MS, 90 * MS]));
    }
}
