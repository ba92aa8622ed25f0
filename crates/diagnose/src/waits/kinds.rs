//! What requests ask for, so that those of one kind can be told from others.

use crate::analysis::Analysis;
use crate::connections::End;
use crate::exchange::Exchange;
use crate::place::of_call;
use crate::said::{Said, asking};
use case::RequestKind;
use case::tables::{Command, HttpMessage};

/// More letters of a path than this say no more about the kind of a request.
const LONGEST_PATH: usize = 60;

/// The kinds of a recording's requests.
pub(crate) struct Kinds<'e> {
    analysis: &'e Analysis<'e>,
    messages: Said<'e, HttpMessage>,
    commands: Said<'e, Command>,
}

impl<'e> Kinds<'e> {
    pub fn new(analysis: &'e Analysis<'e>) -> Kinds<'e> {
        Kinds { analysis, messages: Said::messages(analysis), commands: Said::commands(analysis) }
    }

    /// By what is asked for where that could be read, else by the line that asks.
    pub fn of(&self, exchange: &Exchange) -> RequestKind {
        self.asked(exchange)
            .or_else(|| self.commanded(exchange))
            .or_else(|| self.asked_by(exchange))
            .unwrap_or_default()
    }

    fn asked(&self, exchange: &Exchange) -> Option<RequestKind> {
        let request = self.request(exchange)?;
        Some(RequestKind::Http { method: request.method.clone(), path: path(&request.target) })
    }

    /// The head of its request, in HTTP that could be read.
    pub fn request(&self, exchange: &Exchange) -> Option<&'e HttpMessage> {
        let asks = asking(exchange);
        self.messages.within(exchange).iter().find(|row| row.direction == asks && !row.method.is_empty())
    }

    fn commanded(&self, exchange: &Exchange) -> Option<RequestKind> {
        Some(RequestKind::Command { name: words(self.commands.first(exchange)?) })
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

/// A command's words: `KEYS`, `SELECT orders`.
pub(super) fn words(command: &Command) -> String {
    if command.object.is_empty() { command.name.clone() } else { format!("{} {}", command.name, command.object) }
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
