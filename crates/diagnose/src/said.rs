//! What was said on a connection during an exchange: rows that were read from the bytes moved.

use crate::analysis::Analysis;
use crate::connections::End;
use crate::exchange::Exchange;
use crate::threads::groups;
use case::Nanos;
use case::tables::{Command, HttpMessage, direction};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Rows of one table, by connection.
pub(crate) struct Said<'e, R> {
    analysis: &'e Analysis<'e>,
    rows: &'e [R],
    of: FxHashMap<u32, Range<usize>>,
    time: fn(&R) -> Nanos,
}

impl<'e> Said<'e, HttpMessage> {
    /// Heads of HTTP/1 messages.
    pub fn messages(analysis: &'e Analysis<'e>) -> Self {
        Said::new(analysis, &analysis.recording.http_messages, |row| row.connection, |row| row.time)
    }
}

impl<'e> Said<'e, Command> {
    /// Commands.
    pub fn commands(analysis: &'e Analysis<'e>) -> Self {
        Said::new(analysis, &analysis.recording.commands, |row| row.connection, |row| row.time)
    }

    /// The first command of an exchange.
    pub fn first(&self, exchange: &Exchange) -> Option<&'e Command> {
        let asks = asking(exchange);
        self.within(exchange).iter().find(|row| row.direction == asks)
    }
}

impl<'e, R> Said<'e, R> {
    fn new(analysis: &'e Analysis<'e>, rows: &'e [R], connection: fn(&R) -> u32, time: fn(&R) -> Nanos) -> Said<'e, R> {
        Said { analysis, rows, of: groups(rows, connection).into_iter().collect(), time }
    }

    /// Those between the beginning and the end of an exchange, on its connection.
    pub fn within(&self, exchange: &Exchange) -> &'e [R] {
        let connection = self.analysis.connections.row(exchange.connection).id;
        let Some(range) = self.of.get(&connection) else { return &[] };
        let rows = &self.rows[range.clone()];
        // A server's exchange begins when its first read ends; its message has the time at which that read began.
        let first_call = self.analysis.transfers(exchange).first().map(|&row| self.analysis.call(row as usize).start.0);
        let start = first_call.map_or(exchange.start, |start| start.min(exchange.start));
        let first = rows.partition_point(|row| (self.time)(row).0 < start);
        let last = rows.partition_point(|row| (self.time)(row).0 <= exchange.end);
        &rows[first.min(last)..last]
    }
}

/// Which way requests go, from where an exchange is seen.
pub(crate) fn asking(exchange: &Exchange) -> u8 {
    if exchange.end_seen == End::Client { direction::OUT } else { direction::IN }
}
