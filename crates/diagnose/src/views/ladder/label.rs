//! A call or a segment in a few words.

use crate::analysis::Analysis;
use crate::code::base_name;
use crate::number::count;
use crate::syscall;
use case::tables::{Call, Segment, flags};

/// What a label says of a call beside its name.
#[derive(Clone, Copy)]
pub struct Details {
    /// Bytes moved by all of them.
    pub bytes: u64,
    /// Whether it moves bytes of the exchange.
    pub own: bool,
}

/// A call: `write 109 bytes`, `openat passwd`.
pub fn call(analysis: &Analysis, call: &Call, details: Details) -> String {
    let name = syscall::name(call.number);
    let moves = syscall::is_read(call.number) || syscall::is_write(call.number);
    let did = match call.result {
        _ if !call.finished => format!("{name}, not finished"),
        syscall::EAGAIN if syscall::is_write(call.number) => format!("{name}: would block (buffer full)"),
        syscall::EAGAIN => format!("{name}: would block (no data)"),
        -115 => format!("{name}: in progress"),
        failed if failed < 0 => format!("{name}: error {}", -failed),
        0 if syscall::is_read(call.number) => format!("{name}: end of stream"),
        _ if moves => format!("{name} {}", bytes(details.bytes)),
        _ => name,
    };
    if details.own { did } else { format!("{did}{}", object(analysis, call)) }
}

/// What a call is about, where it is not the exchange's own connection.
fn object(analysis: &Analysis, call: &Call) -> String {
    let paths = &analysis.recording.paths;
    let path = paths.binary_search_by_key(&call.path, |row| row.id).ok().filter(|_| call.path != 0);
    let slot = analysis.connections.slot(call.connection).filter(|_| call.connection != 0);
    match (slot, path) {
        _ if syscall::is_poll(call.number) || syscall::is_accept(call.number) => String::new(),
        (Some(slot), _) => format!(" ({})", base_name(&analysis.connections.remote(slot))),
        (None, Some(path)) => format!(" {}", base_name(&paths[path].path)),
        (None, None) => String::new(),
    }
}

/// A segment by itself: `91 bytes`, `SYN`, `ACK`.
pub fn segment(segment: &Segment) -> String {
    let signs = [(flags::SYN, "SYN"), (flags::FIN, "FIN"), (flags::RST, "RST")];
    let mut words: Vec<String> = Vec::new();
    if segment.payload > 0 {
        words.push(bytes(u64::from(segment.payload)));
    }
    words.extend(signs.iter().filter(|(sign, _)| segment.flags & sign != 0).map(|(_, word)| (*word).to_string()));
    if words.is_empty() {
        words.push("ACK".to_string());
    }
    words.join(", ")
}

/// Bytes with their unit: `28,960 bytes`.
pub fn bytes(bytes: u64) -> String {
    let unit = if bytes == 1 { "byte" } else { "bytes" };
    format!("{} {unit}", count(bytes))
}
