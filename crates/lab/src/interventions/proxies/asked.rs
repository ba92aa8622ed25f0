//! Who asks whom in what was recorded, and so where a proxy is to stand.

use super::super::{NotHere, Request};
use crate::treatment::{End, Proxy, ProxyTask, Treatment};
use case::Recording;
use case::tables::{Call, Connection, HttpMessage, direction, role};
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// As many servers of a finding get a proxy.
const MOST_SERVERS: usize = 4;
/// So many requests share a connection at most where it is nearly one for each: what the sham opens.
pub(super) const NEARLY_EACH: f64 = 1.25;

/// Who asks whom, of the connections of a finding.
pub(super) struct Asked {
    /// The end that asks.
    pub asker: End,
    /// The servers that it asks.
    pub servers: BTreeSet<SocketAddr>,
    /// Whether most requests say that compressed answers can be read.
    pub asks_for_compressed: bool,
    /// How many requests a connection carries on average.
    pub requests_each: f64,
}

/// The same, where a connection carries one request: an inert proxy opens one for each.
pub(super) fn asked_once_each(request: &Request) -> Result<Asked, NotHere> {
    let asked = asked(request)?;
    if asked.requests_each > NEARLY_EACH {
        return Err(NotHere("needs a connection for nearly every request: here more of them share one".into()));
    }
    Ok(asked)
}

/// A proxy in the asker's network, before each of those that it asks.
pub(super) fn put_beside_asker(asked: &Asked, tasks: &BTreeSet<ProxyTask>, treatment: &mut Treatment) {
    for &before in &asked.servers {
        let listens_on = match before.ip() {
            IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
        };
        let tasks = tasks.clone();
        let closes = asked.requests_each <= NEARLY_EACH;
        treatment.proxies.push(Proxy { end: asked.asker, listens_on, before, tasks, closes, is_inert: false });
    }
}

pub(super) fn asked(request: &Request) -> Result<Asked, NotHere> {
    let recording = request.recording.ok_or_else(|| NotHere("needs a recording that shows who asks whom".into()))?;
    asked_on(request, recording, &connections(request, recording))
}

/// The same, of some connections.
pub(super) fn asked_on(
    request: &Request,
    recording: &Recording,
    connections: &[&Connection],
) -> Result<Asked, NotHere> {
    if record::nginx().is_none() {
        return Err(NotHere("needs nginx on this host (sudo apt install nginx-light)".into()));
    }
    let ids: BTreeSet<u32> = connections.iter().flat_map(|row| [row.id, row.peer]).filter(|id| *id != 0).collect();
    if recording.handshakes.iter().any(|row| ids.contains(&row.connection)) {
        return Err(NotHere("needs connections without TLS: what is encrypted passes no proxy".into()));
    }
    let heads = recording.http_messages.iter().filter(|row| ids.contains(&row.connection));
    let requests: Vec<&HttpMessage> = heads.filter(|row| row.status == 0).collect();
    if requests.is_empty() {
        return Err(NotHere("needs HTTP/1, and none was seen on these connections".into()));
    }
    let address = |row: &&Connection| {
        let (host, port) = match row.role {
            role::SERVER => (&row.local_address, row.local_port),
            _ => (&row.remote_address, row.remote_port),
        };
        Some(SocketAddr::new(host.parse().ok()?, port))
    };
    let servers: BTreeSet<SocketAddr> = connections.iter().filter_map(address).collect();
    if servers.is_empty() || servers.len() > MOST_SERVERS {
        return Err(NotHere(format!("needs one to {MOST_SERVERS} servers that are asked over TCP")));
    }
    let is_of_server = |pid: u32| recording.processes.iter().any(|row| row.pid == pid && row.role == "server");
    let by_servers = connections.iter().filter(|row| row.role != role::SERVER && is_of_server(row.pid)).count();
    let asker = if by_servers * 2 > connections.len() { End::Server } else { End::Client };
    if asker == End::Server && !request.has_server {
        return Err(NotHere("needs the server, too (--server)".into()));
    }
    let compressed = requests.iter().filter(|row| row.is_compressed).count();
    let sent = requests.iter().filter(|row| row.direction == direction::OUT).count();
    let requests_each = sent as f64 / connections.len().max(1) as f64;
    Ok(Asked { asker, servers, asks_for_compressed: compressed * 2 > requests.len(), requests_each })
}

/// The connections that a finding rests on, directly or by its calls.
fn connections<'r>(request: &Request, recording: &'r Recording) -> Vec<&'r Connection> {
    let all = &recording.connections;
    let named: BTreeSet<u32> = match request.finding.map(|finding| &finding.evidence) {
        Some(evidence) if evidence.table == "connections" => {
            evidence.rows.iter().filter_map(|row| all.get(*row as usize)).map(|row| row.id).collect()
        }
        _ => request.calls().map(|call| call.connection).collect(),
    };
    all.iter().filter(|row| named.contains(&row.id)).collect()
}

/// Whether each of the processes connects about once.
pub(super) fn is_one_each(request: &Request) -> bool {
    let processes: BTreeSet<u32> = request.calls().map(|call| call.pid).collect();
    processes.len() * 2 > request.calls().count()
}

/// The address that all questions of a finding are for, as settings of nginx can name it.
pub(super) fn fetched(request: &Request) -> Result<String, NotHere> {
    let messages = request.recording.map_or(&[][..], |recording| &recording.http_messages);
    let target_of = |call: &Call| {
        let begins = |row: &&HttpMessage| {
            (row.connection, row.time, row.direction) == (call.connection, call.start, direction::OUT)
        };
        messages.iter().find(begins).map(|row| row.target.as_str())
    };
    let targets: BTreeSet<&str> = request.calls().filter_map(target_of).collect();
    let is_plain = |target: &&str| {
        target.starts_with('/') && target.chars().all(|one| one.is_ascii_alphanumeric() || "/_.~-".contains(one))
    };
    match targets.into_iter().collect::<Vec<_>>()[..] {
        [target] if is_plain(&target) => Ok(target.to_string()),
        _ => Err(NotHere("needs one address that is fetched each time, of plain letters and digits".into())),
    }
}
