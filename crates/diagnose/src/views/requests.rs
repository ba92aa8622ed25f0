//! What exchanges were about, read from messages in plain text.

use crate::analysis::Analysis;
use crate::exchange::Exchange;
use crate::said::{Said, asking};
use case::tables::{Command, HttpMessage};

/// A longer target is cut: it is a title here, not a record.
const LONGEST_TARGET: usize = 120;

/// The messages of each connection.
pub struct Requests<'e> {
    messages: Said<'e, HttpMessage>,
    commands: Said<'e, Command>,
}

impl<'e> Requests<'e> {
    /// Indexes the messages.
    pub fn new(analysis: &'e Analysis<'e>) -> Requests<'e> {
        Requests { messages: Said::messages(analysis), commands: Said::commands(analysis) }
    }

    /// The first request of an exchange and the status of its answer: `POST /orders, 200`; a command: `KEYS`. Empty where
    /// neither was read.
    pub fn about(&self, exchange: &Exchange) -> String {
        let asks = asking(exchange);
        let messages = self.messages.within(exchange);
        let request = messages.iter().find(|row| row.direction == asks && !row.method.is_empty());
        // A provisional answer (100 Continue) is none yet.
        let response = messages.iter().rev().find(|row| row.direction != asks && row.status >= 200);
        let request = request.map(|row| format!("{} {}", row.method, shortened(&row.target)));
        let request = request.or_else(|| self.commands.first(exchange).map(|command| command.name.clone()));
        let status = response.map(|row| row.status.to_string());
        [request, status].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

fn shortened(target: &str) -> String {
    match target.char_indices().nth(LONGEST_TARGET) {
        Some((end, _)) => format!("{}...", &target[..end]),
        None => target.to_string(),
    }
}
