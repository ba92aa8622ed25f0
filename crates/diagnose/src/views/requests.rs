//! What exchanges were about, read from HTTP messages in plain text.

use crate::analysis::Analysis;
use crate::connections::End;
use crate::exchange::Exchange;
use crate::threads::groups;
use case::tables::{HttpMessage, direction};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// A longer target is cut: it is a title here, not a record.
const LONGEST_TARGET: usize = 120;

/// The HTTP messages of each connection.
pub struct Requests<'e> {
    analysis: &'e Analysis<'e>,
    messages: FxHashMap<u32, Range<usize>>,
}

impl<'e> Requests<'e> {
    /// Indexes the messages.
    pub fn new(analysis: &'e Analysis<'e>) -> Requests<'e> {
        let messages = groups(&analysis.recording.http_messages, |row| row.connection).into_iter().collect();
        Requests { analysis, messages }
    }

    /// The first request of an exchange and the status of its answer: `POST /orders, 200`. Empty where neither was read.
    pub fn about(&self, exchange: &Exchange) -> String {
        let (asks, answers) = match exchange.end_seen {
            End::Client => (direction::OUT, direction::IN),
            End::Server => (direction::IN, direction::OUT),
        };
        let messages = self.within(exchange);
        let request = messages.iter().find(|row| row.direction == asks && !row.method.is_empty());
        // A provisional answer (100 Continue) is none yet.
        let response = messages.iter().rev().find(|row| row.direction == answers && row.status >= 200);
        let request = request.map(|row| format!("{} {}", row.method, shortened(&row.target)));
        let status = response.map(|row| row.status.to_string());
        [request, status].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// The messages between the beginning and the end of an exchange, on its connection.
    fn within(&self, exchange: &Exchange) -> &'e [HttpMessage] {
        let connection = self.analysis.connections.row(exchange.connection).id;
        let Some(range) = self.messages.get(&connection) else { return &[] };
        let messages = &self.analysis.recording.http_messages[range.clone()];
        // A server's exchange begins when its first read ends; its message has the time at which that read began.
        let first_call = self.analysis.transfers(exchange).first().map(|&row| self.analysis.call(row as usize).start.0);
        let start = first_call.map_or(exchange.start, |start| start.min(exchange.start));
        let first = messages.partition_point(|row| row.time.0 < start);
        let last = messages.partition_point(|row| row.time.0 <= exchange.end);
        &messages[first.min(last)..last]
    }
}

fn shortened(target: &str) -> String {
    match target.char_indices().nth(LONGEST_TARGET) {
        Some((end, _)) => format!("{}...", &target[..end]),
        None => target.to_string(),
    }
}
