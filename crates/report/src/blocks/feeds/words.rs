//! Words for what can go wrong with feeds, and for what CPU time is spent on.

use crate::blocks::load::words::name as load_fault;
use case::{ContentFault, FeedFault, FeedPhase};

pub(super) fn fault(fault: FeedFault) -> &'static str {
    match fault {
        FeedFault::Transfer(fault) => load_fault(fault),
        FeedFault::Content(fault) => content(fault),
    }
}

fn content(fault: ContentFault) -> &'static str {
    match fault {
        ContentFault::BadUrl => "address not understood",
        ContentFault::LookUp => "host has no address",
        ContentFault::BadRedirect => "redirect to nowhere",
        ContentFault::RedirectLoop => "redirects in a circle",
        ContentFault::TooManyRedirects => "too many redirects",
        ContentFault::SlowDrip => "answer dripped and did not end in time",
        ContentFault::ClientError => "refused by the server (4xx)",
        ContentFault::ServerError => "server error (5xx)",
        ContentFault::OddStatus => "odd status",
        ContentFault::UnaskedNotModified => "304 to an unconditional request",
        ContentFault::UnknownCoding => "unknown content coding",
        ContentFault::BadCoding => "damaged gzip, br or zstd",
        ContentFault::Bomb => "too large once uncompressed",
        ContentFault::Empty => "empty",
        ContentFault::WideText => "UTF-16 or UTF-32",
        ContentFault::Html => "a page, not a feed",
        ContentFault::NotAFeed => "not a feed",
        ContentFault::BadXml => "broken XML",
        ContentFault::TruncatedXml => "XML ends too early",
        ContentFault::BadJson => "broken JSON",
        ContentFault::OwnEntities => "declares its own entities",
        ContentFault::TooDeep => "nested too deep",
        ContentFault::TooManyEntries => "too many entries",
    }
}

pub(super) fn cost(phase: FeedPhase) -> &'static str {
    match phase {
        FeedPhase::LookUp => "look-up",
        FeedPhase::Connect => "connect and close",
        FeedPhase::Tls => "TLS handshake",
        FeedPhase::Transfer => "transfer",
        FeedPhase::Inflate => "uncompress",
        FeedPhase::Parse => "parse",
        FeedPhase::Other => "everything else",
    }
}
