//! One request of a log, as its line says it.

use crate::number::{digits, nanos};

/// One request. Texts are slices of the line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry<'l> {
    /// Who asked: an address, perhaps with a port, or a name; empty where it is not known.
    pub client: &'l [u8],
    /// When, in seconds since 1970; none where the log does not say.
    pub time: Option<i64>,
    /// The method; empty where it is not known.
    pub method: &'l [u8],
    /// The path, perhaps with a query or a whole address before it.
    pub target: &'l [u8],
    /// The status of the answer; 0 where there was none.
    pub status: u16,
    /// Bytes that were sent.
    pub bytes: u64,
    /// Time that it took, in nanoseconds; none where the log does not say.
    pub took_ns: Option<u64>,
    /// The agent as it calls itself; empty where it does not.
    pub agent: &'l [u8],
}

/// What a part of a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// Who asked.
    Client,
    /// Who asked, as a proxy before has heard it: the first of a list.
    Forwarded,
    /// When.
    Time,
    /// Method, target and version.
    Request,
    /// The method alone.
    Method,
    /// The target alone.
    Target,
    /// The status.
    Status,
    /// Bytes sent.
    Bytes,
    /// A length of time in units of so many nanoseconds; what else is such is added.
    Took(u64),
    /// HAProxy's list of times, the last of which is the whole, in milliseconds.
    Times,
    /// The agent.
    Agent,
    /// Anything else.
    Other,
}

impl<'l> Entry<'l> {
    /// Takes in a part of a line; none where it is not what it should be.
    pub fn take(&mut self, field: Field, value: &'l [u8]) -> Option<()> {
        match field {
            Field::Client if value.is_empty() || value.contains(&b' ') => return None,
            Field::Client => self.client = value,
            Field::Forwarded => self.client = value.split(|byte| *byte == b',').next().unwrap_or_default(),
            Field::Time => self.time = Some(crate::time::seconds(value)?),
            Field::Request => (self.method, self.target) = request(value),
            Field::Method => self.method = value,
            Field::Target => self.target = value,
            Field::Status => self.status = status(value)?,
            Field::Bytes => self.bytes = bytes(value)?,
            Field::Took(unit) => self.add_time(nanos(value, unit)?),
            Field::Times => {
                let whole = value.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
                self.add_time(nanos(whole.strip_prefix(b"+").unwrap_or(whole), 1_000_000)?);
            }
            Field::Agent => self.agent = value,
            Field::Other => {}
        }
        Some(())
    }

    fn add_time(&mut self, ns: Option<u64>) {
        if let Some(ns) = ns {
            self.took_ns = Some(self.took_ns.unwrap_or(0).saturating_add(ns));
        }
    }
}

/// Method and target of a request line; empty where it is none, as what a port scanner sends.
fn request(line: &[u8]) -> (&[u8], &[u8]) {
    let Some(first) = memchr::memchr(b' ', line) else { return (&[], &[]) };
    let rest = &line[first + 1..];
    match memchr::memrchr(b' ', rest) {
        Some(last) if rest[last + 1..].starts_with(b"HTTP/") => (&line[..first], &rest[..last]),
        _ => (&line[..first], rest),
    }
}

fn status(value: &[u8]) -> Option<u16> {
    match value {
        [a @ b'0'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9'] => {
            Some(u16::from(a - b'0') * 100 + u16::from(b - b'0') * 10 + u16::from(c - b'0'))
        }
        b"-" | b"-1" | b"0" => Some(0),
        _ => None,
    }
}

fn bytes(value: &[u8]) -> Option<u64> {
    if value == b"-" {
        return Some(0);
    }
    // HAProxy marks what was logged before it was complete.
    digits(value.strip_prefix(b"+").unwrap_or(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_may_hold_blanks_and_a_request_may_be_none() {
        let targets = [&b"GET /a b HTTP/1.1"[..], b"GET /old", b"\\x16\\x03", b"-"].map(request);
        let said = [("GET", "/a b"), ("GET", "/old"), ("", ""), ("", "")];
        assert_eq!(targets, said.map(|(method, target)| (method.as_bytes(), target.as_bytes())));
    }
}
