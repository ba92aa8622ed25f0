//! Words for the numbers of tables.

use crate::views::connections::transport_name;
use crate::views::tls_names;
use case::tables::{content, direction, event, flags, kind, reason, role};

/// The words for a number of a column that stands for words; none where it is just a number.
pub fn of(table: &str, column: &str, number: i128) -> Option<String> {
    let code = u8::try_from(number).unwrap_or(u8::MAX);
    let wide = u16::try_from(number).unwrap_or_default();
    let words = match column {
        "direction" => direction_name(code),
        "content" => content_name(code),
        "content_type" => record_name(code),
        "transport" => transport_name(code),
        "role" => role_name(code),
        "reason" => reason_name(code),
        "kind" => kind_name(code),
        "event" => event_name(code),
        "flags" => return Some(flag_names(code)),
        "version" => return Some(tls_names::version(wide)),
        "cipher" => return Some(tls_names::cipher(wide)),
        "record_type" => return Some(record_type_name(wide)),
        "code" if table == "lookups" => return Some(answer_name(code)),
        _ => return None,
    };
    Some(words.to_string())
}

fn direction_name(code: u8) -> &'static str {
    if code == direction::OUT { "out" } else { "in" }
}

fn content_name(code: u8) -> &'static str {
    match code {
        content::TLS => "TLS record",
        content::HTTP_REQUEST => "HTTP request",
        content::HTTP_RESPONSE => "HTTP response",
        content::DNS => "DNS message",
        content::PEM | content::PEM_OTHER => "PEM text",
        content::HTTP2_PREFACE => "HTTP/2 preface",
        _ => "",
    }
}

/// Types of TLS records (RFC 8446, section 5.1).
pub fn record_name(code: u8) -> &'static str {
    match code {
        20 => "change cipher spec",
        21 => "alert",
        22 => "handshake",
        23 => "application data",
        _ => "other",
    }
}

fn role_name(code: u8) -> &'static str {
    match code {
        role::CLIENT => "client",
        role::SERVER => "server",
        role::LISTENER => "listener",
        _ => "",
    }
}

fn reason_name(code: u8) -> &'static str {
    match code {
        reason::PREEMPTED => "preempted",
        reason::BLOCKED => "blocked",
        reason::UNINTERRUPTIBLE => "blocked uninterruptibly",
        reason::STOPPED => "stopped",
        reason::TRACED => "stopped by a tracer",
        _ => "",
    }
}

fn kind_name(code: u8) -> &'static str {
    match code {
        kind::NATIVE => "compiled code",
        kind::KERNEL => "kernel",
        kind::SCRIPT => "script",
        kind::GENERATED => "generated code",
        _ => "unknown",
    }
}

fn event_name(code: u8) -> &'static str {
    match code {
        event::STATE => "state changed",
        event::DELAYED_ACK_FIRED => "delayed ACK fired",
        event::RETRANSMIT => "retransmitted",
        _ => "",
    }
}

fn flag_names(code: u8) -> String {
    let names = [(flags::SYN, "SYN"), (flags::FIN, "FIN"), (flags::RST, "RST"), (flags::ACK, "ACK")];
    let set = names.into_iter().filter(|(flag, _)| code & flag != 0).map(|(_, name)| name);
    set.collect::<Vec<_>>().join(" ")
}

/// Types of DNS records that programs ask for (RFC 1035, 3596, 9460).
fn record_type_name(number: u16) -> String {
    match number {
        1 => "A".to_string(),
        5 => "CNAME".to_string(),
        28 => "AAAA".to_string(),
        33 => "SRV".to_string(),
        65 => "HTTPS".to_string(),
        other => other.to_string(),
    }
}

fn answer_name(code: u8) -> String {
    match code {
        0 => String::new(),
        2 => "server failure".to_string(),
        3 => "no such name".to_string(),
        other => format!("code {other}"),
    }
}

/// The name of an error number as a call returns it, negative: `EAGAIN` of -11. The rest by number.
pub fn error(result: i64) -> String {
    let number = result.unsigned_abs();
    let index = ERRORS.binary_search_by_key(&number, |&(known, _)| known);
    index.map_or_else(|_| format!("error {number}"), |index| ERRORS[index].1.to_string())
}

/// Errors that calls of networked programs end with (include/uapi/asm-generic/errno.h), and those that the kernel uses
/// to begin a call anew after a signal (include/linux/errno.h).
const ERRORS: [(u64, &str); 34] = [
    (1, "EPERM"),
    (2, "ENOENT"),
    (4, "EINTR"),
    (5, "EIO"),
    (9, "EBADF"),
    (10, "ECHILD"),
    (11, "EAGAIN"),
    (12, "ENOMEM"),
    (13, "EACCES"),
    (14, "EFAULT"),
    (17, "EEXIST"),
    (20, "ENOTDIR"),
    (21, "EISDIR"),
    (22, "EINVAL"),
    (24, "EMFILE"),
    (25, "ENOTTY"),
    (28, "ENOSPC"),
    (32, "EPIPE"),
    (38, "ENOSYS"),
    (90, "EMSGSIZE"),
    (95, "EOPNOTSUPP"),
    (98, "EADDRINUSE"),
    (99, "EADDRNOTAVAIL"),
    (101, "ENETUNREACH"),
    (104, "ECONNRESET"),
    (106, "EISCONN"),
    (107, "ENOTCONN"),
    (110, "ETIMEDOUT"),
    (111, "ECONNREFUSED"),
    (113, "EHOSTUNREACH"),
    (114, "EALREADY"),
    (115, "EINPROGRESS"),
    (512, "ERESTARTSYS"),
    (516, "ERESTART_RESTARTBLOCK"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_their_names_and_rare_ones_their_numbers() {
        assert!(ERRORS.is_sorted_by_key(|&(number, _)| number));
        assert_eq!(error(-11), "EAGAIN");
        assert_eq!(error(-133), "error 133");
    }

    #[test]
    fn a_number_without_words_stays_a_number() {
        assert_eq!(of("calls", "fd", 3), None);
        assert_eq!(of("segments", "flags", 18).as_deref(), Some("SYN ACK"));
    }
}
