//! Answers that say that something went wrong. A request that fails is a quick one as a rule: how long requests take says little then.

use crate::analysis::Analysis;
use crate::said::{Said, asking};
use case::Trouble;
use std::collections::BTreeMap;

/// The server failed (RFC 9110, 15.6), or the request cannot be met (15.5).
const SERVER_ERROR: u16 = 500;
const CLIENT_ERROR: u16 = 400;

/// One answer in so many at least says that the server failed.
const SERVER_ERRORS: u64 = 100;
/// That a request cannot be met belongs to how some clients ask: to most of their requests it does not.
const CLIENT_ERRORS: u64 = 2;

/// The status that most of those have which went wrong, where there are many.
pub fn find(analysis: &Analysis) -> Option<Trouble> {
    // Of a million answers none may have failed.
    if analysis.recording.http_messages.iter().all(|row| row.status < CLIENT_ERROR) {
        return None;
    }
    let said = Said::messages(analysis);
    let (mut of, mut by_status) = (0_u64, BTreeMap::<u16, u64>::new());
    for exchange in &analysis.exchanges {
        let mut answers = said.within(exchange).iter().filter(|row| row.direction != asking(exchange));
        if let Some(last) = answers.rfind(|row| row.status > 0) {
            of += 1;
            *by_status.entry(last.status).or_default() += 1;
        }
    }
    let is_many = |&(&status, &count): &(&u16, &u64)| {
        let least = if status >= SERVER_ERROR { SERVER_ERRORS } else { CLIENT_ERRORS };
        status >= CLIENT_ERROR && (count >= super::REPEATED || count == of) && count.saturating_mul(least) >= of
    };
    let (&status, &count) = by_status.iter().filter(is_many).max_by_key(|(_, count)| **count)?;
    Some(Trouble::ErrorAnswers { status, count, of })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{US, keep_alive};
    use crate::tests::answer;
    use case::tables::{HttpMessage, direction};

    /// Twenty requests, the first few of which get this status.
    fn answered(status: u16, times: usize) -> Vec<Trouble> {
        let mut recording = keep_alive(20, 100 * US).end();
        let reads = recording.calls.iter().filter(|call| call.connection == 1 && call.number == crate::fixture::READ);
        let answers = reads.enumerate().map(|(at, read)| HttpMessage {
            time: read.start,
            connection: 1,
            direction: direction::IN,
            status: if at < times { status } else { 200 },
            ..HttpMessage::default()
        });
        recording.http_messages = answers.collect();
        answer(&recording).troubles
    }

    #[test]
    fn errors_of_the_server_and_those_that_most_requests_meet_are_told() {
        let told = |status, count| vec![Trouble::ErrorAnswers { status, count, of: 20 }];
        assert_eq!(answered(503, 4), told(503, 4));
        assert_eq!(answered(404, 15), told(404, 15));
        assert_eq!(answered(404, 6), []);
        assert_eq!(answered(500, 2), [], "twice");
        assert_eq!(answered(304, 20), []);
    }
}
