//! What a process asks others: on each connection that it opened, one question after the other.

use crate::analysis::Analysis;
use crate::syscall;
use crate::threads::call_end;

/// A question to somebody else, from the call that asked to the one that had the answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question {
    /// The call that began it.
    pub row: usize,
    /// The connection.
    pub slot: usize,
    pub start: u64,
    pub end: u64,
    /// How long it is, in bytes.
    pub bytes: u64,
    /// In how many calls it was written.
    pub writes: u32,
}

impl Question {
    /// How long the answer took.
    pub fn length(&self) -> u64 {
        self.end - self.start
    }
}

/// The questions of a connection, in order of time: whatever is written until an answer comes is one.
pub(crate) fn of_connection(analysis: &Analysis, slot: usize) -> Vec<Question> {
    let mut questions: Vec<Question> = Vec::new();
    let mut open: Option<Question> = None;
    let is_whole = |question: &Question| question.end > question.start;
    for &row in analysis.connections.transfer_numbers(slot) {
        let row = row as usize;
        let call = analysis.call(row);
        if syscall::is_write(call.number) {
            if open.as_ref().is_none_or(|question| question.end > 0) {
                questions.extend(open.take().filter(is_whole));
                open = Some(Question { row, slot, start: call.start.0, end: 0, bytes: 0, writes: 0 });
            }
            if let Some(question) = &mut open {
                question.bytes += call.result.max(0) as u64;
                question.writes += 1;
            }
        } else if let Some(question) = &mut open {
            question.end = call_end(call);
        }
    }
    questions.extend(open.filter(is_whole));
    questions
}
