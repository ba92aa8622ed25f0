//! The connections table: what the kernel side says of each socket, and what its bytes say of its conversation.

mod kept;

use crate::events::{SegmentEvent, SocketEvent, TcpEvent};
use case::Nanos;
use case::tables::{Connection, Handshake, event, role, transport};
use kept::Kept;
use protocol::Conversation;
use rustc_hash::{FxHashMap, FxHashSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const AF_UNIX: u16 = 1;
const AF_INET: u16 = 2;
const AF_INET6: u16 = 10;
const IPPROTO_TCP: u8 = 6;
const IPPROTO_UDP: u8 = 17;
const TCP_ESTABLISHED: u32 = 1;
const TCP_CLOSE: u32 = 7;

/// One socket and its conversation.
#[derive(Default)]
pub struct Socket {
    /// The row that is to be written at the end.
    pub row: Connection,
    /// What its bytes say.
    pub conversation: Option<Box<Conversation>>,
    /// Whether the connection is over. What came before a reset can still be read.
    is_over: bool,
}

/// What was there in a network namespace before its processes were watched.
struct Before {
    /// When watching began.
    since: Nanos,
    /// The TCP ports that somebody listened on.
    ports: FxHashSet<u16>,
}

/// All sockets seen, by number.
#[derive(Default)]
pub struct Connections {
    kept: Kept,
    /// When the latest was announced.
    latest: Nanos,
    /// Sockets that were not kept since last asked.
    pub left_out: u64,
    /// Handshakes that were under way when their connections were handed on.
    handshakes: Vec<Handshake>,
    /// By network namespace.
    before: FxHashMap<u64, Before>,
    /// TCP connections that were open before they were watched.
    pub found_open: u64,
    /// Unix sockets, by the inodes of their descriptors.
    by_inode: FxHashMap<u64, u32>,
}

/// So many Unix sockets may wait for their other ends to be announced, which is a matter of microseconds.
const MOST_WAITING: usize = 100_000;

impl Connections {
    /// Processes of a network namespace, in which these TCP ports are listened on, are watched from now on though they
    /// run already: what connections they have was opened before.
    pub fn were_there(&mut self, namespace: u64, ports: impl IntoIterator<Item = u16>, now: Nanos) {
        let before = self.before.entry(namespace).or_insert_with(|| Before { since: now, ports: FxHashSet::default() });
        before.ports.extend(ports);
    }

    /// A socket appeared, or its addresses or role changed.
    pub fn announced(&mut self, event: &SocketEvent) {
        self.left_out += u64::from(!self.kept.has_room_for(event.socket));
        self.latest = self.latest.max(Nanos(event.time));
        let socket = self.kept.socket(event.socket, Nanos(event.time));
        let row = &mut socket.row;
        row.pid = event.pid;
        row.network_namespace = u64::from(event.network_namespace);
        row.transport = transport_of(event);
        row.local_port = event.local_port;
        row.remote_port = event.remote_port;
        if event.family != AF_UNIX {
            row.local_address = address(event.family, &event.local_address);
            row.remote_address = address(event.family, &event.remote_address);
        }
        if event.role != role::UNKNOWN && row.role != event.role {
            row.role = event.role;
            socket.conversation = Some(Box::new(Conversation::new(event.socket, event.role)));
        } else if event.role == role::UNKNOWN && row.role == role::UNKNOWN && row.transport == transport::TCP {
            self.found_open += u64::from(found_open(row, event, &self.before));
        }
        if event.family == AF_UNIX {
            self.link_unix(event);
        }
    }

    /// Names each end of a Unix socket the other, once both were announced.
    fn link_unix(&mut self, event: &SocketEvent) {
        let inode = |address: &[u8; 16]| address.first_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let (local, remote) = (inode(&event.local_address), inode(&event.remote_address));
        if self.by_inode.len() >= MOST_WAITING {
            self.by_inode.clear();
        }
        if local != 0 {
            self.by_inode.insert(local, event.socket);
        }
        let Some(&other) = self.by_inode.get(&remote).filter(|&&other| other != event.socket) else { return };
        let now = Nanos(event.time);
        self.kept.socket(event.socket, now).row.peer = other;
        self.kept.socket(other, now).row.peer = event.socket;
    }

    /// The socket of a number, made up where its announcement was lost.
    pub fn socket(&mut self, number: u32, now: Nanos) -> &mut Socket {
        self.kept.socket(number, now)
    }

    /// How a socket came to be, as far as is known.
    pub fn role(&self, number: u32) -> u8 {
        self.kept.get(number).map_or(role::UNKNOWN, |socket| socket.row.role)
    }

    /// TCP did something to a socket. Returns whether its connection is over.
    pub fn changed(&mut self, event: &TcpEvent) -> bool {
        let now = Nanos(event.time);
        let socket = self.kept.socket(event.socket, now);
        let row = &mut socket.row;
        row.mss = u32::from(event.mss);
        row.nodelay = event.nodelay != 0;
        keep_round_trip(row, event.srtt_us);
        if u32::from(event.event) != u32::from(event::STATE) {
            return false;
        }
        let is_over = event.after == TCP_CLOSE;
        if event.after == TCP_ESTABLISHED {
            row.established = now;
        } else if is_over {
            socket.is_over = true;
            if row.closed == Nanos(0) {
                row.closed = now;
            }
        }
        is_over
    }

    /// A segment passed; its socket's round-trip time is news.
    pub fn passed(&mut self, event: &SegmentEvent) {
        keep_round_trip(&mut self.socket(event.socket, Nanos(event.time)).row, event.srtt_us);
    }

    /// Rows of connections that are over, the two ends linked, where so many are kept that they take memory.
    pub fn take_over(&mut self) -> Vec<Connection> {
        let handshakes = &mut self.handshakes;
        let row = |socket: Socket| {
            handshakes.extend(socket.conversation.and_then(|mut conversation| conversation.close()));
            socket.row
        };
        let mut rows = self.kept.take_over(self.latest).into_iter().map(row).collect::<Vec<_>>();
        rows.sort_by_key(|row| row.id);
        rows
    }

    /// All other rows, those still open closed at `end`, the two ends of a connection linked; and the handshakes that were
    /// under way.
    pub fn finish(self, end: Nanos) -> (Vec<Connection>, Vec<Handshake>) {
        let mut handshakes = self.handshakes;
        let sockets = self.kept.into_sockets();
        let mut rows = Vec::with_capacity(sockets.len());
        for mut socket in sockets {
            handshakes.extend(socket.conversation.as_mut().and_then(|conversation| conversation.close()));
            if socket.row.closed == Nanos(0) {
                socket.row.closed = end;
            }
            rows.push(socket.row);
        }
        rows.sort_by_key(|row| row.id);
        handshakes.sort_by_key(|handshake| (handshake.start, handshake.connection));
        link_peers(&mut rows.iter_mut().collect::<Vec<_>>());
        (rows, handshakes)
    }
}

/// Fills in what is not seen of a TCP connection that was open before it was watched: it was opened before then, and it is
/// the server's end where its port is listened on. Says whether it is such a connection. Its conversation goes on as one
/// whose beginning is not known.
fn found_open(row: &mut Connection, event: &SocketEvent, before: &FxHashMap<u64, Before>) -> bool {
    let Some(before) = before.get(&row.network_namespace) else { return false };
    let is_listened_on = before.ports.contains(&row.local_port);
    if row.remote_port == 0 {
        // It listens, or it is new: an option is set before it is connected.
        row.role = if is_listened_on { role::LISTENER } else { role::UNKNOWN };
        return false;
    }
    row.opened = row.opened.min(before.since);
    row.role = if is_listened_on { role::SERVER } else { role::CLIENT };
    row.mss = u32::from(event.mss);
    row.nodelay = event.nodelay != 0;
    keep_round_trip(row, event.srtt_us);
    true
}

fn keep_round_trip(row: &mut Connection, srtt_us: u32) {
    if srtt_us > 0 {
        row.srtt = Nanos(u64::from(srtt_us) * 1_000);
    }
}

fn transport_of(event: &SocketEvent) -> u8 {
    match (event.family, event.protocol) {
        (AF_UNIX, _) => transport::UNIX,
        (AF_INET | AF_INET6, IPPROTO_TCP) => transport::TCP,
        (AF_INET | AF_INET6, IPPROTO_UDP) => transport::UDP,
        _ => transport::OTHER,
    }
}

/// An address as people write it; one that IPv6 maps from IPv4 is shown as IPv4, so that both ends read alike.
fn address(family: u16, bytes: &[u8; 16]) -> String {
    match family {
        AF_INET => Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3]).to_string(),
        AF_INET6 => IpAddr::V6(Ipv6Addr::from(*bytes)).to_canonical().to_string(),
        _ => String::new(),
    }
}

/// Names each end's other end, where that is recorded too: TCP sockets with mirrored addresses that were open at the
/// same time. Of several (a port used again) the one opened nearest in time.
fn link_peers(rows: &mut [&mut Connection]) {
    let ends = |row: &Connection| {
        let local = (row.local_address.clone(), row.local_port);
        (local, (row.remote_address.clone(), row.remote_port))
    };
    let mut by_ends: FxHashMap<_, Vec<usize>> = FxHashMap::default();
    for (at, row) in rows.iter().enumerate() {
        if row.transport == transport::TCP && row.remote_port != 0 {
            by_ends.entry(ends(row)).or_default().push(at);
        }
    }
    for at in 0..rows.len() {
        let (local, remote) = ends(rows[at]);
        let Some(others) = by_ends.get(&(remote, local)) else { continue };
        let overlapping = others.iter().filter(|&&other| other != at && overlap(rows[at], rows[other]));
        let nearest = overlapping.min_by_key(|&&other| rows[at].opened.0.abs_diff(rows[other].opened.0));
        if let Some(&nearest) = nearest {
            rows[at].peer = rows[nearest].id;
        }
    }
}

fn overlap(one: &Connection, other: &Connection) -> bool {
    one.opened <= other.closed && other.opened <= one.closed
}

#[cfg(test)]
mod tests {
    use super::kept::MOST_SOCKETS;
    use super::*;

    fn end(id: u32, local: (&str, u16), remote: (&str, u16), opened: u64, closed: u64) -> Connection {
        Connection {
            id,
            transport: transport::TCP,
            local_address: local.0.into(),
            local_port: local.1,
            remote_address: remote.0.into(),
            remote_port: remote.1,
            opened: Nanos(opened),
            closed: Nanos(closed),
            ..Connection::default()
        }
    }

    fn announcement(role: u8, local_port: u16, remote_port: u16) -> SocketEvent {
        SocketEvent {
            kind: 6,
            family: AF_INET,
            socket: 1,
            pid: 7,
            network_namespace: 5,
            time: 500,
            local_address: [0; 16],
            remote_address: [0; 16],
            local_port,
            remote_port,
            role,
            protocol: IPPROTO_TCP,
            socket_type: 1,
            srtt_us: 90,
            mss: 1448,
            nodelay: 1,
        }
    }

    fn announced(role: u8, local_port: u16, remote_port: u16) -> Connection {
        let event = announcement(role, local_port, remote_port);
        let mut connections = Connections::default();
        connections.were_there(5, [443], Nanos(100));
        connections.announced(&event);
        connections.finish(Nanos(900)).0.remove(0)
    }

    #[test]
    fn a_connection_found_open_is_as_old_as_the_recording_and_its_end_follows_from_who_listens() {
        let [server, client] = [announced(role::UNKNOWN, 443, 4000), announced(role::UNKNOWN, 4000, 443)];
        assert_eq!((server.role, client.role), (role::SERVER, role::CLIENT));
        assert_eq!((client.opened, client.established), (Nanos(100), Nanos(0)));
        assert_eq!((client.mss, client.nodelay, client.srtt), (1448, true, Nanos(90_000)));
        assert_eq!(announced(role::UNKNOWN, 443, 0).role, role::LISTENER);
        let unconnected = announced(role::UNKNOWN, 0, 0);
        assert_eq!((unconnected.role, unconnected.opened), (role::UNKNOWN, Nanos(500)));
    }

    #[test]
    fn a_connection_seen_to_be_made_is_as_old_as_it_is() {
        let made = announced(role::CLIENT, 4000, 443);
        assert_eq!((made.role, made.opened), (role::CLIENT, Nanos(500)));
    }

    #[test]
    fn ends_of_a_unix_socket_are_peers_by_their_inodes() {
        let announced = |socket: u32, local: u64, remote: u64, role: u8| {
            let inode = |number: u64| {
                let mut address = [0; 16];
                address[..8].copy_from_slice(&number.to_le_bytes());
                address
            };
            let (local_address, remote_address) = (inode(local), inode(remote));
            SocketEvent { socket, family: AF_UNIX, local_address, remote_address, ..announcement(role, 0, 0) }
        };
        let mut connections = Connections::default();
        connections.announced(&announced(1, 71, 0, role::CLIENT));
        // A name service, which nobody watches.
        connections.announced(&announced(2, 72, 90, role::CLIENT));
        connections.announced(&announced(3, 73, 71, role::SERVER));
        let (rows, _) = connections.finish(Nanos(9));
        assert_eq!(rows.iter().map(|row| (row.id, row.peer)).collect::<Vec<_>>(), [(1, 3), (2, 0), (3, 1)]);
        assert!(rows.iter().all(|row| row.local_address.is_empty()));
    }

    #[test]
    fn mirrored_ends_are_peers_and_a_reused_port_is_distinguished_by_time() {
        let (client, server) = (("10.0.0.1", 4000), ("10.0.0.2", 443));
        let mut rows = [
            end(1, client, server, 10, 20),
            end(2, server, client, 11, 21),
            end(3, client, server, 30, 40),
            end(4, server, client, 31, 41),
            end(5, client, ("10.0.0.2", 80), 30, 40),
        ];
        link_peers(&mut rows.each_mut());
        assert_eq!(rows.each_ref().map(|row| row.peer), [2, 1, 4, 3, 0]);
    }

    #[test]
    fn so_many_sockets_are_kept_and_the_others_counted() {
        let mut connections = Connections::default();
        for number in 0..MOST_SOCKETS as u32 + 7 {
            connections.announced(&SocketEvent { socket: number, ..announcement(role::CLIENT, 5000, 443) });
        }
        assert_eq!((connections.left_out, connections.kept.get(MOST_SOCKETS as u32).is_none()), (7, true));
        // What is not kept can still be spoken of, and leaves nothing behind.
        connections.socket(MOST_SOCKETS as u32 + 1, Nanos(1)).row.pid = 9;
        assert_eq!(connections.socket(MOST_SOCKETS as u32 + 2, Nanos(1)).row.pid, 0);
        assert_eq!(connections.finish(Nanos(5)).0.len(), MOST_SOCKETS);
    }
}
