//! Handshakes that a process only passes on, such as a proxy of TCP: they are its client's, and count there.

use crate::analysis::Analysis;
use crate::connections::End;
use case::tables::Handshake;
use rustc_hash::FxHashMap;

/// The handshakes that were seen at the ends of servers.
pub(super) struct PassedOn<'a> {
    analysis: &'a Analysis<'a>,
    /// By process, in order of time.
    served: FxHashMap<u32, Vec<&'a Handshake>>,
}

impl<'a> PassedOn<'a> {
    /// Of a recording.
    pub fn new(analysis: &'a Analysis<'a>) -> PassedOn<'a> {
        let mut served: FxHashMap<u32, Vec<&Handshake>> = FxHashMap::default();
        for row in &analysis.recording.handshakes {
            let slot = analysis.connections.slot(row.connection);
            if let Some(slot) = slot.filter(|&slot| analysis.connections.all()[slot].end == Some(End::Server)) {
                served.entry(analysis.connections.row(slot).pid).or_default().push(row);
            }
        }
        for rows in served.values_mut() {
            rows.sort_by_key(|row| row.start);
        }
        PassedOn { analysis, served }
    }

    /// Whether a process that makes a handshake, at a place in the list of connections, says in it what a client says to it in one
    /// that has begun and is not over yet.
    pub fn contains(&self, slot: usize, handshake: &Handshake) -> bool {
        let served = self.served.get(&self.analysis.connections.row(slot).pid).map_or(&[][..], Vec::as_slice);
        let begun = &served[..served.partition_point(|row| row.start <= handshake.start)];
        let says = |row: &Handshake| (row.version, row.offered, row.resumed, row.client_hello_bytes);
        begun.iter().rev().any(|row| {
            row.end >= handshake.start && says(row) == says(handshake) && row.server_name == handshake.server_name
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{CLIENT, Fixture, MS, SERVER};
    use case::Nanos;

    /// Whether a server's handshake with another one counts as passed on, which says this and begins so long after one with its client
    /// has begun, which takes 2 ms.
    fn is_passed_on(later: u64, hello_bytes: u32) -> bool {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        fixture.connect(2, SERVER);
        let start = fixture.now;
        for (connection, tid, from, bytes) in [(1001, SERVER, start, 300), (2, SERVER, start + later, hello_bytes)] {
            fixture.handshake(connection, tid, from, |row| {
                (row.client_hello_bytes, row.end) = (bytes, Nanos(from + 2 * MS));
            });
        }
        let recording = fixture.end();
        let analysis = Analysis::new(&recording);
        let own = recording.handshakes.iter().find(|row| row.connection == 2).expect("the server's own");
        PassedOn::new(&analysis).contains(analysis.connections.slot(2).expect("a place"), own)
    }

    #[test]
    fn what_is_said_while_a_client_says_the_same_is_passed_on() {
        assert!(is_passed_on(MS, 300));
    }

    #[test]
    fn what_a_server_says_itself_or_once_its_client_has_done_is_its_own() {
        assert!(!is_passed_on(MS, 517));
        assert!(!is_passed_on(3 * MS, 300));
    }
}
