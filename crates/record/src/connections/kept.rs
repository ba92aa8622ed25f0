//! Sockets in memory, as long as something more may come of them.

use super::{Socket, link_peers};
use case::Nanos;
use case::tables::{Connection, role, transport};
use protocol::Conversation;
use rustc_hash::{FxHashMap, FxHashSet};

/// Sockets that have rows. Later ones are counted.
pub(super) const MOST_SOCKETS: usize = 300_000;
/// Where there are more in memory, which takes some 700 bytes for each, those that are over are handed on before the end.
const MANY_SOCKETS: usize = 20_000;
/// So long after a connection is over nothing more is said of its ends, and both have been announced.
const SETTLING: Nanos = Nanos(2_000_000_000);

/// All sockets seen, by number.
#[derive(Default)]
pub(super) struct Kept {
    /// Each by itself: a table of hundreds of thousands that grows would be copied as a whole.
    sockets: FxHashMap<u32, Box<Socket>>,
    /// Those whose rows were handed on.
    handed_on: FxHashSet<u32>,
    /// So many have to be here before it is looked again which of them are over.
    next_look: usize,
    /// Stands for each socket that is not here.
    beyond: Socket,
}

impl Kept {
    /// A socket that is kept.
    pub fn get(&self, number: u32) -> Option<&Socket> {
        self.sockets.get(&number).map(|socket| &**socket)
    }

    /// Whether there is room for one of this number, or it has had its row.
    pub fn has_room_for(&self, number: u32) -> bool {
        let all = self.sockets.len() + self.handed_on.len();
        all < MOST_SOCKETS || self.sockets.contains_key(&number) || self.handed_on.contains(&number)
    }

    /// The socket of a number, made up where its announcement was lost. What is said of one that is not kept leaves nothing behind.
    pub fn socket(&mut self, number: u32, now: Nanos) -> &mut Socket {
        let new = || Socket {
            row: Connection { id: number, opened: now, transport: transport::OTHER, ..Connection::default() },
            conversation: Some(Box::new(Conversation::new(number, role::UNKNOWN))),
            ..Socket::default()
        };
        if self.handed_on.contains(&number) || !self.has_room_for(number) {
            self.beyond = new();
            return &mut self.beyond;
        }
        self.sockets.entry(number).or_insert_with(|| Box::new(new()))
    }

    /// Takes out connections that are over, both ends where both are recorded, where there are many; looked for when their number
    /// has doubled.
    pub fn take_over(&mut self, now: Nanos) -> Vec<Socket> {
        if self.sockets.len() < self.next_look.max(MANY_SOCKETS) {
            return Vec::new();
        }
        link_peers(&mut self.sockets.values_mut().map(|socket| &mut socket.row).collect::<Vec<_>>());
        let is_over = |number: u32| self.get(number).is_some_and(|socket| socket.is_settled(now));
        let both = |row: &&Connection| is_over(row.id) && (row.peer == 0 || is_over(row.peer));
        let over = self.sockets.values().map(|socket| &socket.row).filter(both).map(|row| row.id).collect::<Vec<_>>();
        let sockets = over.iter().filter_map(|number| self.sockets.remove(number)).map(|socket| *socket).collect();
        self.handed_on.extend(over);
        self.next_look = 2 * self.sockets.len();
        sockets
    }

    /// All that are still here.
    pub fn into_sockets(self) -> impl ExactSizeIterator<Item = Socket> {
        self.sockets.into_values().map(|socket| *socket)
    }
}

impl Socket {
    /// Whether nothing more is to come of it. Who holds a descriptor can still read what came before a reset, but seldom that late.
    fn is_settled(&self, now: Nanos) -> bool {
        self.is_over && self.row.closed + SETTLING <= now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both ends of a connection, closed at this time.
    fn connection(kept: &mut Kept, first: u32, closed: Nanos) {
        let (client, server) = (("10.0.0.1", first as u16 + 1), ("10.0.0.2", 443));
        for (number, local, remote) in [(first, client, server), (first + 1, server, client)] {
            let socket = kept.socket(number, Nanos(1));
            socket.row.transport = transport::TCP;
            (socket.row.local_address, socket.row.local_port) = (local.0.into(), local.1);
            (socket.row.remote_address, socket.row.remote_port) = (remote.0.into(), remote.1);
            socket.row.closed = closed;
            socket.is_over = closed > Nanos(0);
        }
    }

    #[test]
    fn what_is_over_is_handed_on_with_its_other_end_where_there_is_much() {
        let (many, now) = (MANY_SOCKETS as u32, SETTLING + Nanos(10));
        let closed = [Nanos(10), Nanos(0), Nanos(11), Nanos(0)];
        let mut kept = Kept::default();
        for first in (2..many).step_by(2) {
            connection(&mut kept, first, closed[first as usize / 2 % 4]);
        }
        assert!(kept.take_over(now).is_empty(), "there are not many");
        connection(&mut kept, many, Nanos(0));
        // One end of it goes on, and so the other stays as well.
        kept.socket(8, Nanos(1)).is_over = false;
        let mut over =
            kept.take_over(now).into_iter().map(|socket| (socket.row.id, socket.row.peer)).collect::<Vec<_>>();
        over.sort_unstable();
        let expected = (16..many).step_by(8).flat_map(|first| [(first, first + 1), (first + 1, first)]);
        assert_eq!(over, expected.collect::<Vec<_>>());
        // What is said of them later leaves nothing behind, and they count.
        assert!(kept.has_room_for(16) && kept.get(16).is_none());
        kept.socket(16, Nanos(30)).row.pid = 7;
        assert!(kept.get(16).is_none());
        assert_eq!(kept.into_sockets().len() + over.len(), many as usize);
    }
}
