//! What requests ask for, so that those of one kind can be told from others.

use crate::analysis::Analysis;
use crate::connections::End;
use crate::exchange::Exchange;
use crate::place::of_call;
use crate::threads::groups;
use case::RequestKind;
use case::tables::{HttpMessage, direction};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// More letters of a path than this say no more about the kind of a request.
const LONGEST_PATH: usize = 60;

/// The kinds of a recording's requests.
pub(crate) struct Kinds<'e> {
    analysis: &'e Analysis<'e>,
    /// The HTTP messages of each connection.
    messages: FxHashMap<u32, Range<usize>>,
}

impl<'e> Kinds<'e> {
    pub fn new(analysis: &'e Analysis<'e>) -> Kinds<'e> {
        let messages = groups(&analysis.recording.http_messages, |row| row.connection).into_iter().collect();
        Kinds { analysis, messages }
    }

    /// By what is asked for where that could be read, else by the line that asks.
    pub fn of(&self, exchange: &Exchange) -> RequestKind {
        self.asked(exchange).or_else(|| self.asked_by(exchange)).unwrap_or_default()
    }

    fn asked(&self, exchange: &Exchange) -> Option<RequestKind> {
        let request = self.request(exchange)?;
        Some(RequestKind::Http { method: request.method.clone(), path: path(&request.target) })
    }

    /// The head of its request, in HTTP that could be read.
    pub fn request(&self, exchange: &Exchange) -> Option<&'e HttpMessage> {
        let analysis = self.analysis;
        let range = self.messages.get(&analysis.connections.row(exchange.connection).id)?;
        let messages = &analysis.recording.http_messages[range.clone()];
        let asks = if exchange.end_seen == End::Client { direction::OUT } else { direction::IN };
        // A server's exchange begins when its first read ends; its message has the time at which that read began.
        let first_call = analysis.transfers(exchange).first().map(|&row| analysis.call(row as usize).start.0);
        let start = first_call.map_or(exchange.start, |start| start.min(exchange.start));
        let first = messages.partition_point(|row| row.time.0 < start);
        let within = messages[first..].iter().take_while(|row| row.time.0 <= exchange.end);
        within.into_iter().find(|row| row.direction == asks && !row.method.is_empty())
    }

    fn asked_by(&self, exchange: &Exchange) -> Option<RequestKind> {
        if exchange.end_seen != End::Client {
            return None;
        }
        let call = self.analysis.call(*self.analysis.transfers(exchange).first()? as usize);
        let place = of_call(&self.analysis.code, call).into_iter().next()?;
        Some(RequestKind::AskedBy { file: place.file, line: place.line, function: place.function })
    }
}

/// A target's path, without its query, numbers replaced: those of one route are one.
fn path(target: &str) -> String {
    let path = target.split(['?', '#']).next().unwrap_or_default();
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let parts = path.split('/').map(|part| if is_number(part) { ":n" } else { part });
    let path = parts.collect::<Vec<_>>().join("/");
    match path.char_indices().nth(LONGEST_PATH) {
        Some((end, _)) => format!("{}...", &path[..end]),
        None => path,
    }
}

#[cfg(test)]
mod tests {
    use super::path;

    #[test]
    fn those_of_one_route_are_one_kind() {
        assert_eq!(path("/users/17/orders/4?sort=up"), "/users/:n/orders/:n");
        assert_eq!(path("/a1/b"), "/a1/b");
        assert_eq!(path(&"/x".repeat(50)).len(), 63);
    }
}
