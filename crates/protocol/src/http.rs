//! HTTP/1 heads (RFC 9112) at the turns of a conversation.
//!
//! A message is looked for where one can begin: at the first call, at a call in the other direction than the one
//! before, or where the message before it in the same direction is known to have ended. Bytes of a body are never taken
//! for a head while a Content-Length says that it goes on.

mod head;

use super::Moved;
use case::Nanos;
use case::tables::{HttpMessage, content};
use head::Head;

/// Most bytes of one head that are put together from several calls: the request line and the headers that matter come
/// first, and whoever sends more than this is not waited for.
const LONGEST_GATHERED: usize = 2048;

/// Whether the bytes begin an HTTP/1 request: a method, a blank, and a target that nothing contradicts.
pub(super) fn begins_request(bytes: &[u8]) -> bool {
    let Some(blank) = bytes.iter().take(head::LONGEST_METHOD + 1).position(|&byte| byte == b' ') else { return false };
    let (method, rest) = (&bytes[..blank], &bytes[blank + 1..]);
    if !head::is_method(method) {
        return false;
    }
    match rest.iter().position(|&byte| byte == b'\n') {
        Some(end) => rest[..end].windows(8).any(|word| word.starts_with(b" HTTP/1.")),
        None => matches!(rest.first(), Some(b'/' | b'h' | b'*')) || method == b"CONNECT",
    }
}

/// Whether the bytes begin an HTTP/1 response.
pub(super) fn begins_response(bytes: &[u8]) -> bool {
    bytes.starts_with(b"HTTP/1.")
}

/// Whether so few bytes may still turn out to begin a message.
fn may_begin(bytes: &[u8]) -> bool {
    let is_version_part = b"HTTP/1.".starts_with(bytes);
    let method = bytes.strip_suffix(b" ").unwrap_or(bytes);
    let is_method_part = method.len() <= head::LONGEST_METHOD && method.iter().all(u8::is_ascii_uppercase);
    !bytes.is_empty() && (is_version_part || is_method_part)
}

/// What is known of one direction.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    /// Bytes of a body that are still to come.
    body_left: u64,
    /// Whether the message before is known to have ended where `body_left` is none.
    at_boundary: bool,
}

/// A head of which earlier calls brought a part.
#[derive(Debug)]
struct Gathered {
    time: Nanos,
    tid: u32,
    direction: u8,
    bytes: Vec<u8>,
}

/// The plain-text state of one connection end.
#[derive(Debug, Default)]
pub(super) struct Http {
    flows: [Flow; 2],
    last_direction: Option<u8>,
    gathered: Option<Box<Gathered>>,
    asked_for_head: bool,
}

impl Http {
    /// Whether bytes in this direction would be the first of a turn.
    pub fn is_turn(&self, direction: u8) -> bool {
        self.last_direction != Some(direction)
    }

    /// Takes one call; gives the content code of its first bytes.
    pub fn feed(&mut self, connection: u32, moved: &Moved, messages: &mut Vec<HttpMessage>) -> u8 {
        let side = usize::from(moved.direction & 1);
        let turned = self.is_turn(moved.direction);
        self.last_direction = Some(moved.direction);
        if self.gathered.is_some() {
            if !turned {
                return self.go_on(connection, moved, messages);
            }
            self.give_up_gathering(connection, messages);
        }
        let flow = &mut self.flows[side];
        if flow.body_left > 0 {
            flow.body_left = flow.body_left.saturating_sub(moved.bytes);
            return content::OTHER;
        }
        if !turned && !flow.at_boundary {
            return content::OTHER;
        }
        flow.at_boundary = false;
        self.begin(connection, moved, messages)
    }

    /// Looks for a message at the call's first byte.
    fn begin(&mut self, connection: u32, moved: &Moved, messages: &mut Vec<HttpMessage>) -> u8 {
        let captured = moved.captured();
        let is_response = begins_response(captured);
        let begins = is_response || begins_request(captured);
        let is_captured_whole = captured.len() as u64 == moved.bytes;
        let may_turn_out = is_captured_whole && may_begin(captured);
        if !begins && !may_turn_out {
            return content::OTHER;
        }
        let parsed = if begins { Head::parse(captured) } else { None };
        let ended = parsed.as_ref().is_some_and(|head| head.length.is_some());
        if !ended && is_captured_whole && captured.len() < LONGEST_GATHERED {
            let bytes = captured.to_vec();
            let gathered = Gathered { time: moved.start, tid: moved.tid, direction: moved.direction, bytes };
            self.gathered = Some(Box::new(gathered));
        } else if let Some(head) = parsed {
            self.note(&head, moved.direction, moved.bytes);
            messages.push(head.message(connection, moved.start, moved.tid, moved.direction));
        }
        match (begins, is_response) {
            (true, true) => content::HTTP_RESPONSE,
            (true, false) => content::HTTP_REQUEST,
            _ => content::OTHER,
        }
    }

    /// Adds a call to a head that began in an earlier one.
    fn go_on(&mut self, connection: u32, moved: &Moved, messages: &mut Vec<HttpMessage>) -> u8 {
        let Some(mut gathered) = self.gathered.take() else { return content::OTHER };
        let captured = moved.captured();
        let before = gathered.bytes.len() as u64;
        let room = LONGEST_GATHERED - gathered.bytes.len().min(LONGEST_GATHERED);
        gathered.bytes.extend_from_slice(&captured[..captured.len().min(room)]);
        let begins = begins_request(&gathered.bytes) || begins_response(&gathered.bytes);
        if !begins && !may_begin(&gathered.bytes) {
            return content::OTHER;
        }
        let parsed = if begins { Head::parse(&gathered.bytes) } else { None };
        let ended = parsed.as_ref().is_some_and(|head| head.length.is_some());
        let may_grow = captured.len() as u64 == moved.bytes && captured.len() < room;
        if !ended && may_grow {
            self.gathered = Some(gathered);
        } else if let Some(head) = parsed {
            self.note(&head, gathered.direction, before + moved.bytes);
            messages.push(head.message(connection, gathered.time, gathered.tid, gathered.direction));
        }
        content::OTHER
    }

    /// The other direction moved before the head was complete: what there is of it counts.
    fn give_up_gathering(&mut self, connection: u32, messages: &mut Vec<HttpMessage>) {
        let Some(gathered) = self.gathered.take() else { return };
        let begins = begins_request(&gathered.bytes) || begins_response(&gathered.bytes);
        if let Some(head) = begins.then(|| Head::parse(&gathered.bytes)).flatten() {
            messages.push(head.message(connection, gathered.time, gathered.tid, gathered.direction));
        }
    }

    /// Works out how much of the message is still to come after the `moved` bytes from its start.
    fn note(&mut self, head: &Head, direction: u8, moved: u64) {
        let flow = &mut self.flows[usize::from(direction & 1)];
        let has_body = if head.status == 0 {
            self.asked_for_head = head.method == "HEAD";
            true
        } else {
            // These have no body whatever their headers say (RFC 9112, 6.3).
            !(self.asked_for_head || head.status < 200 || head.status == 204 || head.status == 304)
        };
        let is_interim = (100..200).contains(&head.status);
        let promised = if has_body { head.content_length } else { Some(0) };
        // A request without a length has no body; a response without one goes on to the end of the connection.
        let promised = promised.or((head.status == 0 && !head.is_chunked).then_some(0));
        *flow = match (promised, head.length) {
            (Some(promised), Some(length)) => {
                let body_left = (length as u64).saturating_add(promised).saturating_sub(moved);
                Flow { body_left, at_boundary: true }
            }
            // The head alone was sent, however long it is: the body waits for the 100.
            (Some(promised), None) if head.expects_continue => Flow { body_left: promised, at_boundary: true },
            _ => Flow { body_left: 0, at_boundary: is_interim },
        };
    }
}

#[cfg(test)]
mod tests;
