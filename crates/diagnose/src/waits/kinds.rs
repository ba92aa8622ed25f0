//! What requests ask for, so that those of one kind can be told from others.

use crate::analysis::Analysis;
use crate::connections::End;
use crate::exchange::Exchange;
use crate::place::of_call;
use crate::said::{Said, asking};
use case::RequestKind;
use case::tables::{Call, Command, HttpMessage};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// More letters of a path than this say no more about the kind of a request.
const LONGEST_PATH: usize = 60;

/// The kinds of a recording's requests, each with a number: of millions there are some dozen.
pub(crate) struct Kinds<'e> {
    analysis: &'e Analysis<'e>,
    messages: Said<'e, HttpMessage>,
    commands: Said<'e, Command>,
    known: RefCell<Known<'e>>,
}

/// Kinds met so far.
#[derive(Default)]
struct Known<'e> {
    /// In order of their numbers.
    kinds: Vec<RequestKind>,
    numbers: BTreeMap<RequestKind, u32>,
    by_sign: FxHashMap<Sign<'e>, u32>,
}

/// By what a request's kind is known, before any text is made of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Sign<'e> {
    /// A method and a target.
    Http(&'e str, &'e str),
    /// A command, and what it is about.
    Command(&'e str, &'e str),
    /// The stacks of the call that asks.
    AskedBy(u32, u32),
    Nothing,
}

impl<'e> Kinds<'e> {
    pub fn new(analysis: &'e Analysis<'e>) -> Kinds<'e> {
        let (messages, commands) = (Said::messages(analysis), Said::commands(analysis));
        Kinds { analysis, messages, commands, known: RefCell::default() }
    }

    /// The number of an exchange's kind: by what is asked for where that could be read, else by the line that asks.
    pub fn of(&self, exchange: &Exchange) -> u32 {
        let call = || self.asking_call(exchange);
        let http = || self.request(exchange).map(|request| Sign::Http(&request.method, &request.target));
        let command = || self.commands.first(exchange).map(|command| Sign::Command(&command.name, &command.object));
        let asked_by = || call().map(|call| Sign::AskedBy(call.script_stack, call.stack));
        let sign = http().or_else(command).or_else(asked_by).unwrap_or(Sign::Nothing);
        let known = &mut *self.known.borrow_mut();
        *known.by_sign.entry(sign).or_insert_with(|| {
            let kind = match sign {
                Sign::Http(method, target) => RequestKind::Http { method: method.to_string(), path: path(target) },
                Sign::Command(name, object) => RequestKind::Command { name: joined(name, object) },
                Sign::AskedBy(..) => call().and_then(|call| self.line(call)).unwrap_or_default(),
                Sign::Nothing => RequestKind::default(),
            };
            *known.numbers.entry(kind.clone()).or_insert_with(|| {
                known.kinds.push(kind);
                known.kinds.len() as u32 - 1
            })
        })
    }

    /// The kinds of the exchanges asked for, in order of their numbers.
    pub fn all(&self) -> Vec<RequestKind> {
        self.known.borrow().kinds.clone()
    }

    /// The head of its request, in HTTP that could be read.
    pub fn request(&self, exchange: &Exchange) -> Option<&'e HttpMessage> {
        let asks = asking(exchange);
        self.messages.within(exchange).iter().find(|row| row.direction == asks && !row.method.is_empty())
    }

    /// The call that asks, where the client was recorded.
    fn asking_call(&self, exchange: &Exchange) -> Option<&'e Call> {
        let first = self.analysis.transfers(exchange).first().filter(|_| exchange.end_seen == End::Client)?;
        Some(self.analysis.call(*first as usize))
    }

    fn line(&self, call: &Call) -> Option<RequestKind> {
        let place = of_call(&self.analysis.code, call).into_iter().next()?;
        Some(RequestKind::AskedBy { file: place.file, line: place.line, function: place.function })
    }
}

/// A command's words: `KEYS`, `SELECT orders`.
pub(super) fn words(command: &Command) -> String {
    joined(&command.name, &command.object)
}

fn joined(name: &str, object: &str) -> String {
    if object.is_empty() { name.to_string() } else { format!("{name} {object}") }
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
