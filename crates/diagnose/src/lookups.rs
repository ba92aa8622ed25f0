//! Look-ups of names: how long a program waited for an answer, and not what it did before or after.

use crate::threads::call_end;
use case::Recording;
use case::tables::{Lookup, direction};

/// A stretch of time between two messages, or after the last, in which a query had no answer yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The message before it: a row of the table of look-ups.
    pub row: usize,
    /// When it began, nanoseconds since boot.
    pub start: u64,
    /// When it ended.
    pub end: u64,
}

/// A question without an answer.
struct Open<'r> {
    question: &'r Lookup,
    asked: u64,
}

/// The waits among a process's messages, given as rows in order of time; a question that nothing answers is waited for
/// until `end`.
pub fn waits(recording: &Recording, rows: impl IntoIterator<Item = usize>, end: u64) -> Vec<Wait> {
    let mut open: Vec<Open> = Vec::new();
    let mut before: Option<(usize, u64)> = None;
    let mut found = Vec::new();
    for index in rows {
        let row = &recording.lookups[index];
        let time = time(recording, row).min(end);
        if let Some((row, start)) = before.filter(|_| !open.is_empty()) {
            found.push(Wait { row, start, end: time.max(start) });
        }
        if row.direction == direction::OUT {
            open.retain(|one| !is_same(one.question, row));
            open.push(Open { question: row, asked: time });
        } else {
            answer(&mut open, row);
        }
        before = Some((index, time));
    }
    if let Some((row, start)) = before.filter(|_| !open.is_empty()) {
        found.push(Wait { row, start, end: end.max(start) });
    }
    found
}

/// Takes the question off, and other names that the same thread had asked for before: it went on without them.
fn answer(open: &mut Vec<Open>, row: &Lookup) {
    let asked = open.iter().find(|one| is_same(one.question, row)).map_or(0, |one| one.asked);
    let given_up = |one: &Open| one.question.tid == row.tid && one.question.name != row.name && one.asked < asked;
    open.retain(|one| !is_same(one.question, row) && !given_up(one));
}

fn is_same(one: &Lookup, other: &Lookup) -> bool {
    one.record_type == other.record_type && one.name.eq_ignore_ascii_case(&other.name)
}

/// When a message went out or was there: a call that waits for an answer has it at its end.
pub fn time(recording: &Recording, row: &Lookup) -> u64 {
    if row.direction == direction::OUT {
        return row.time.0;
    }
    let calls = &recording.calls;
    let at = calls.partition_point(|call| (call.tid, call.start) < (row.tid, row.time));
    let call = calls.get(at).filter(|call| (call.tid, call.start) == (row.tid, row.time));
    call.map_or(row.time.0, call_end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use case::Nanos;

    /// Messages as time, direction, name and record type.
    fn waited(messages: &[(u64, u8, &str, u16)], end: u64) -> Vec<(u64, u64)> {
        let row = |&(time, direction, name, record_type): &(u64, u8, &str, u16)| Lookup {
            time: Nanos(time),
            direction,
            name: name.to_string(),
            record_type,
            ..Lookup::default()
        };
        let recording = Recording { lookups: messages.iter().map(row).collect(), ..Recording::default() };
        waits(&recording, 0..messages.len(), end).iter().map(|wait| (wait.start, wait.end)).collect()
    }

    const OUT: u8 = direction::OUT;
    const IN: u8 = direction::IN;

    #[test]
    fn what_follows_the_last_answer_is_no_waiting() {
        assert_eq!(waited(&[(10, OUT, "host", 1), (15, IN, "host", 1)], 900), [(10, 15)]);
    }

    #[test]
    fn work_between_two_look_ups_is_no_waiting() {
        let two = [(10, OUT, "one", 1), (15, IN, "one", 1), (500, OUT, "two", 1), (505, IN, "two", 1)];
        assert_eq!(waited(&two, 900), [(10, 15), (500, 505)]);
    }

    #[test]
    fn a_second_question_that_was_overlooked_is_waited_for_until_it_is_asked_again_and_answered() {
        let both = [(10, OUT, "host", 1), (10, OUT, "host", 28), (15, IN, "host", 1)];
        assert_eq!(waited(&both, 900), [(10, 10), (10, 15), (15, 900)]);
        let again = [both.as_slice(), &[(600, OUT, "host", 28), (605, IN, "host", 28)]].concat();
        assert_eq!(waited(&again, 900), [(10, 10), (10, 15), (15, 600), (600, 605)]);
    }

    #[test]
    fn a_name_that_was_given_up_is_not_waited_for_any_more() {
        let search = [(10, OUT, "host.local", 1), (500, OUT, "host", 1), (505, IN, "host", 1)];
        assert_eq!(waited(&search, 900), [(10, 500), (500, 505)]);
    }
}
