//! Words for what can happen to a request.

use case::{LoadFault, Phase};

/// A part of a request.
pub(crate) fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::LookUp => "look-up",
        Phase::Connect => "connect",
        Phase::TlsFull => "TLS handshake, full",
        Phase::TlsResumed => "TLS handshake, resumed",
        Phase::FirstByte => "to the first byte",
        Phase::LastByte => "first to last byte",
    }
}

/// What went wrong.
pub(crate) fn name(fault: LoadFault) -> &'static str {
    match fault {
        LoadFault::Refused => "connection refused",
        LoadFault::Unreachable => "host unreachable",
        LoadFault::Exhausted => "no local port or descriptor left",
        LoadFault::ConnectTimedOut => "timed out while connecting",
        LoadFault::HandshakeTimedOut => "timed out in the TLS handshake",
        LoadFault::HandshakeClosed => "closed in the TLS handshake",
        LoadFault::TlsAlert => "TLS alert from the server",
        LoadFault::TlsProtocol => "not TLS, or broken TLS",
        LoadFault::Certificate => "certificate not trusted",
        LoadFault::Reset => "connection reset",
        LoadFault::ClosedEarly => "closed before an answer",
        LoadFault::TimedOut => "timed out",
        LoadFault::BadStatusLine => "bad status line",
        LoadFault::BadHeader => "bad header",
        LoadFault::HeadTooLong => "endless headers",
        LoadFault::TruncatedHead => "closed within the headers",
        LoadFault::BadChunk => "bad chunk",
        LoadFault::BodyTooLarge => "body larger than allowed",
        LoadFault::TruncatedBody => "closed within the body",
        LoadFault::Unasked => "unexpected bytes",
        LoadFault::WrongEcho => "wrong echo",
        LoadFault::UnexpectedStatus => "unexpected status",
        LoadFault::UnexpectedBody => "body without the expected text",
        LoadFault::Other => "refused by the system",
    }
}
