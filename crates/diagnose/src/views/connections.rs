//! Connections as a table.

use super::tls_names;
use crate::analysis::Analysis;
use crate::images::Images;
use crate::syscall;
use case::facts::Transport;
use case::tables::{Handshake, event, role, transport};
use case::views::{ConnectionView, HandshakeState, Rest};
use std::cmp::Reverse;

/// Rows shown.
const SHOWN: usize = 200;

/// The requests on one end of a connection.
#[derive(Clone, Copy, Default)]
struct Requests {
    count: u64,
    ns: u64,
}

/// Connections, those with most of the time first, and what found no place. Both ends of one stand side by side; sockets
/// that listen and those that moved nothing are no connections.
pub fn sheet(analysis: &Analysis) -> (Vec<ConnectionView>, Rest) {
    let requests = requests(analysis);
    let bytes = bytes(analysis);
    let is_shown = |slot: &usize| {
        let row = analysis.connections.row(*slot);
        let moved = bytes[*slot] != (0, 0) || requests[*slot].count > 0;
        row.role != role::LISTENER && (moved || row.transport == transport::TCP && row.established.0 > 0)
    };
    let mut order: Vec<usize> = (0..requests.len()).filter(is_shown).collect();
    order.sort_by_key(|&slot| (Reverse(requests[slot].ns), both_ends(analysis, slot), slot));
    let (shown, left_out) = order.split_at(order.len().min(SHOWN));
    let programs = Images::new(analysis.recording);
    let view = |&slot: &usize| view(analysis, &programs, slot, requests[slot], bytes[slot]);
    let mut rest = Rest { rows: left_out.len() as u64, ..Rest::default() };
    // What both ends moved is counted at one of them.
    let first_end = |slot: &&usize| {
        analysis.connections.all()[**slot].peer.is_none_or(|peer| **slot < peer || shown.contains(&peer))
    };
    for &slot in left_out.iter().filter(first_end) {
        rest.exchanges += requests[slot].count;
        rest.bytes += bytes[slot].0 + bytes[slot].1;
    }
    (shown.iter().map(view).collect(), rest)
}

/// The same for both ends of a connection, and different for others.
fn both_ends(analysis: &Analysis, slot: usize) -> usize {
    analysis.connections.all()[slot].peer.map_or(slot, |peer| peer.min(slot))
}

/// The requests on each connection; seen from one end, they are the other's too.
fn requests(analysis: &Analysis) -> Vec<Requests> {
    let all = analysis.connections.all();
    let mut requests = vec![Requests::default(); all.len()];
    for exchange in &analysis.exchanges {
        let ends = [Some(exchange.connection), all[exchange.connection].peer];
        for slot in ends.into_iter().flatten() {
            requests[slot].count += 1;
            requests[slot].ns += exchange.length();
        }
    }
    requests
}

/// Bytes written and read on each connection.
fn bytes(analysis: &Analysis) -> Vec<(u64, u64)> {
    let of_slot = |slot: usize| {
        analysis.connections.transfers_of(slot).fold((0, 0), |(out, read), call| {
            let moved = call.result.max(0) as u64;
            if syscall::is_write(call.number) { (out + moved, read) } else { (out, read + moved) }
        })
    };
    (0..analysis.connections.all().len()).map(of_slot).collect()
}

fn view(
    analysis: &Analysis,
    programs: &Images,
    slot: usize,
    requests: Requests,
    (bytes_out, bytes_in): (u64, u64),
) -> ConnectionView {
    let row = analysis.connections.row(slot);
    let retransmitted = analysis.connections.events(slot).iter().filter(|row| row.event == event::RETRANSMIT);
    let view = ConnectionView {
        id: row.id,
        end: analysis.connections.all()[slot].end,
        process: programs.name(row.pid, row.opened.0),
        transport: Transport::of(row.transport),
        local: address(&row.local_address, row.local_port),
        remote: address(&row.remote_address, row.remote_port),
        at: (row.opened - analysis.recording.manifest.start).0,
        length_ns: (row.closed - row.opened).0,
        exchanges: requests.count,
        exchange_ns: requests.ns,
        bytes_out,
        bytes_in,
        nodelay: row.nodelay,
        mss: row.mss,
        srtt_ns: row.srtt.0,
        retransmitted: retransmitted.count() as u64,
        ..ConnectionView::default()
    };
    analysis.connections.handshake(slot).map_or(view.clone(), |handshake| with_tls(view, handshake))
}

fn with_tls(view: ConnectionView, handshake: &Handshake) -> ConnectionView {
    let state = match (handshake.end.0, handshake.resumed) {
        (0, _) => HandshakeState::Unfinished,
        (_, true) => HandshakeState::Resumed,
        (_, false) => HandshakeState::Full,
    };
    let version = match tls_names::version(handshake.version) {
        name if name.is_empty() => "TLS".to_string(),
        name => name,
    };
    ConnectionView {
        tls_version: version,
        cipher: tls_names::cipher(handshake.cipher),
        handshake: Some(state),
        handshake_ns: (handshake.end - handshake.start).0,
        server_name: handshake.server_name.clone(),
        ..view
    }
}

/// The name of a transport.
pub fn transport_name(number: u8) -> &'static str {
    match Transport::of(number) {
        Transport::Tcp => "tcp",
        Transport::Udp => "udp",
        Transport::Unix => "unix",
        Transport::Other => "other",
    }
}

/// An address with its port, one of IPv6 in brackets; without a port, a path.
pub fn address(address: &str, port: u16) -> String {
    match (port, address.contains(':')) {
        (0, _) => address.to_string(),
        (port, true) => format!("[{address}]:{port}"),
        (port, false) => format!("{address}:{port}"),
    }
}

#[cfg(test)]
mod tests;
