//! connections, with what was negotiated on each and how much it carried.

use crate::block::{Block, Section};
use crate::document::{Document, SideViews};
use crate::sheet::{Cell, Column, Sheet};
use crate::text::{clean, counted};
use askama::Template;
use case::facts::Transport;
use case::views::{ConnectionView, HandshakeState, Rest, Views};
use case::{Bytes, End, Nanos};
use std::collections::BTreeMap;

pub(crate) const BLOCK: Block = Block::drawn(Section::Connections, html);

#[derive(Template)]
#[template(path = "blocks/connections.html")]
struct Connections {
    sides: Vec<SideConnections>,
}

/// The connections of one recording.
struct SideConnections {
    name: String,
    sentence: String,
    sheet: String,
    particulars: String,
    left_out: String,
}

/// The section's HTML; nothing where there were no connections.
fn html(document: &Document) -> String {
    let has_any = |side: &&SideViews| !side.views.connections.is_empty();
    let sides = document.sides.iter().filter(has_any).map(side).collect::<Vec<_>>();
    if sides.is_empty() { String::new() } else { Connections { sides }.render().unwrap_or_default() }
}

fn side(side: &SideViews) -> SideConnections {
    let views = &side.views;
    SideConnections {
        name: clean(&side.name),
        sentence: sentence(views),
        sheet: sheet(&views.connections).html(),
        particulars: particulars(&views.connections).html(),
        left_out: left_out(views.connections_left_out),
    }
}

/// What the connections come to: `1 connection, TLS 1.3, full handshake, 100 requests.`
fn sentence(views: &Views) -> String {
    let seen = once(&views.connections);
    let requests = seen.iter().map(|one| one.exchanges).sum::<u64>() + views.connections_left_out.exchanges;
    // What carries no requests says nothing of how they are carried.
    let busy = seen.iter().copied().filter(|one| one.exchanges > 0).collect::<Vec<_>>();
    let idle = if busy.is_empty() { 0 } else { (seen.len() - busy.len()) as u64 };
    let seen = if busy.is_empty() { seen } else { busy };
    let total = seen.len() as u64 + views.connections_left_out.rows;
    let mut parts = vec![counted(total, "connection")];
    parts.extend(alike(&seen, |one| one.tls_version.clone()));
    let handshake =
        |one: &ConnectionView| one.handshake.map_or(String::new(), |state| format!("{} handshake", word(state)));
    parts.extend(alike(&seen, handshake));
    parts.push(counted(requests, "request"));
    let again = seen.iter().map(|one| one.retransmitted).sum::<u64>();
    if again > 0 {
        parts.push(format!("{} retransmitted", counted(again, "segment")));
    }
    let idle =
        if idle == 0 { String::new() } else { format!(" {} without requests.", counted(idle, "other connection")) };
    let both = once(&views.connections).len() < views.connections.len();
    let both = if both { " Where both ends were recorded, each has a row." } else { "" };
    parts.join(", ") + "." + &idle + both
}

/// Each connection once: the client's end where both were recorded.
fn once(ends: &[ConnectionView]) -> Vec<&ConnectionView> {
    let is_known_by_its_client = |end: &ConnectionView| {
        end.end == Some(End::Server)
            && ends.iter().any(|other| {
                other.end != Some(End::Server)
                    && !end.local.is_empty()
                    && other.local == end.remote
                    && other.remote == end.local
            })
    };
    ends.iter().filter(|end| !is_known_by_its_client(end)).collect()
}

/// What connections have in common, or how many have which: `2 full handshake, 98 resumed handshake`.
fn alike(seen: &[&ConnectionView], of: impl Fn(&ConnectionView) -> String) -> Option<String> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for one in seen {
        *counts.entry(clean(&of(one))).or_default() += 1;
    }
    if counts.len() == 1 {
        return counts.into_keys().next().filter(|name| !name.is_empty());
    }
    let mut named = counts.into_iter().filter(|(name, _)| !name.is_empty()).collect::<Vec<_>>();
    named.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let shown = named.iter().take(4).map(|(name, count)| format!("{count} with {name}")).collect::<Vec<_>>();
    (!shown.is_empty()).then(|| shown.join(", "))
}

fn left_out(rest: Rest) -> String {
    if rest.rows == 0 {
        return String::new();
    }
    let carried = format!("{} and {}", counted(rest.exchanges, "request"), Bytes(rest.bytes));
    format!("{} more are not listed; together they carried {carried}.", counted(rest.rows, "connection"))
}

/// What is looked at first, as wide as a window; the rest is [`particulars`].
fn sheet(connections: &[ConnectionView]) -> Sheet {
    let columns = vec![
        Column::words("Program").meaning("The process that holds this end"),
        Column::words("End"),
        Column::words("From"),
        Column::words("To"),
        Column::words("Handshake").meaning("Of TLS: full, or resumed from an earlier connection"),
        Column::figures("It took").meaning("The TLS handshake"),
        Column::figures("Requests"),
        Column::figures("Out"),
        Column::figures("In"),
        Column::figures("Open for"),
        Column::words("NODELAY").meaning("Whether TCP_NODELAY was on"),
        Column::figures("Sent again").meaning("Segments that were retransmitted"),
    ];
    let row = |one: &ConnectionView| {
        vec![
            Cell::words(&one.process),
            Cell::words(&one.end.map_or(String::new(), |end| end.to_string())),
            Cell::words(&one.local),
            Cell::words(&one.remote),
            Cell::words(one.handshake.map_or("", word)),
            Cell::time(one.handshake_ns),
            Cell::count(one.exchanges),
            Cell::bytes(one.bytes_out),
            Cell::bytes(one.bytes_in),
            Cell::time(one.length_ns),
            Cell::words(nodelay(one)),
            Cell::count(one.retransmitted),
        ]
    };
    Sheet { of: "connections", columns, rows: connections.iter().map(row).collect() }.without_empty_columns()
}

/// What is looked at more rarely.
fn particulars(connections: &[ConnectionView]) -> Sheet {
    let columns = vec![
        Column::words("From"),
        Column::words("To"),
        Column::words("Kind"),
        Column::words("TLS"),
        Column::words("Cipher suite"),
        Column::words("Server name").meaning("The name that the client asked for"),
        Column::figures("Opened").meaning("Since recording began"),
        Column::figures("Time in requests").meaning("The durations of its requests, added up"),
        Column::figures("RTT").meaning("Smoothed round-trip time, as the kernel has it"),
        Column::figures("MSS").meaning("Maximum segment size, in bytes"),
    ];
    let row = |one: &ConnectionView| {
        vec![
            Cell::words(&one.local),
            Cell::words(&one.remote),
            Cell::words(transport(one.transport)),
            Cell::words(&one.tls_version),
            Cell::words(&one.cipher),
            Cell::words(&one.server_name),
            Cell { text: Nanos(one.at).to_string(), value: Some(one.at.to_string()) },
            Cell::time(one.exchange_ns),
            Cell::time(one.srtt_ns),
            Cell::count(u64::from(one.mss)),
        ]
    };
    Sheet { of: "connections", columns, rows: connections.iter().map(row).collect() }.without_empty_columns()
}

fn word(handshake: HandshakeState) -> &'static str {
    match handshake {
        HandshakeState::Full => "full",
        HandshakeState::Resumed => "resumed",
        HandshakeState::Unfinished => "unfinished",
    }
}

fn transport(transport: Transport) -> &'static str {
    match transport {
        Transport::Tcp => "tcp",
        Transport::Udp => "udp",
        Transport::Unix => "unix",
        Transport::Other => "other",
    }
}

/// Whether `TCP_NODELAY` was on, where there is such an option.
fn nodelay(one: &ConnectionView) -> &'static str {
    match (one.transport == Transport::Tcp, one.nodelay) {
        (false, _) => "",
        (true, true) => "on",
        (true, false) => "off",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Body;
    use crate::examples::views::{answer, assert_harmless, connection, document, hostile, views};

    fn drawn(views: Views) -> String {
        let answer = answer();
        html(&document(Body::Answer(&answer), vec![("", views)]))
    }

    #[test]
    fn one_connection_is_said_in_one_line() {
        let html = drawn(views());
        assert!(html.contains("1 connection, TLS 1.3, full handshake, 100 requests."), "{html}");
        assert!(html.contains("casebook.test") && !html.contains("Sent again"), "{html}");
    }

    #[test]
    fn a_connection_with_both_ends_recorded_is_counted_once() {
        let client = connection();
        let (local, remote) = (client.remote.clone(), client.local.clone());
        let server = ConnectionView { end: Some(End::Server), local, remote, ..client.clone() };
        let html = drawn(Views { connections: vec![client, server], ..views() });
        assert!(html.contains("1 connection, TLS 1.3") && html.contains("each has a row"), "{html}");
    }

    #[test]
    fn kinds_of_handshakes_and_what_is_left_out_are_counted() {
        let resumed = ConnectionView { handshake: Some(HandshakeState::Resumed), retransmitted: 2, ..connection() };
        let connections = vec![connection(), resumed.clone(), resumed];
        let rest = Rest { rows: 40, exchanges: 400, bytes: 12 };
        let html = drawn(Views { connections, connections_left_out: rest, ..views() });
        assert!(html.contains("43 connections, TLS 1.3, 2 with resumed handshake, 1 with full handshake"), "{html}");
        assert!(html.contains("700 requests, 4 segments retransmitted."), "{html}");
        assert!(html.contains("40 connections more are not listed"), "{html}");
    }

    #[test]
    fn what_carries_no_requests_is_counted_apart() {
        let idle = ConnectionView {
            exchanges: 0,
            tls_version: String::new(),
            handshake: None,
            local: String::new(),
            ..connection()
        };
        let html = drawn(Views { connections: vec![connection(), idle], ..views() });
        assert!(
            html.contains("1 connection, TLS 1.3, full handshake, 100 requests. 1 other connection without"),
            "{html}"
        );
    }

    #[test]
    fn what_is_hostile_is_escaped_and_nothing_is_no_section() {
        assert_harmless(&drawn(hostile()));
        assert_eq!(drawn(Views::default()), "");
    }
}
