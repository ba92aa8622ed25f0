//! Interfaces of the capture: one for each network namespace, and in it one for each end of its connections, so that
//! each interface sees a segment once.

use crate::text::counted;
use case::Recording;
use case::tables::{Connection, role};
use pcap_file::DataLink;
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Times are in 10^-9 seconds.
const NANOSECONDS: u8 = 9;

/// Which end of connections an interface is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Client,
    Server,
    Unknown,
}

/// A network namespace and an end in it.
type Key = (u64, End);

/// The interfaces, and which one each connection is on.
pub(super) struct Ends {
    keys: Vec<Key>,
    of_connection: BTreeMap<u32, u32>,
}

impl Ends {
    /// The interfaces that these connections take, the clients' first.
    pub(super) fn of<'r>(recording: &Recording, connections: impl Iterator<Item = &'r Connection>) -> Ends {
        let roles = recording.connections.iter().map(|row| (row.id, row.role)).collect::<BTreeMap<_, _>>();
        let keyed = connections.map(|row| (row.id, key(row, &roles))).collect::<BTreeMap<_, _>>();
        let mut keys = keyed.values().copied().collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>();
        keys.sort_by_key(|(namespace, end)| (*end, *namespace));
        let number = |key: &Key| keys.iter().position(|one| one == key).unwrap_or_default() as u32;
        let of_connection = keyed.iter().map(|(id, key)| (*id, number(key))).collect();
        Ends { keys, of_connection }
    }

    /// The interface that a connection is on.
    pub(super) fn interface_of(&self, connection: &Connection) -> u32 {
        self.of_connection.get(&connection.id).copied().unwrap_or_default()
    }

    /// The blocks that declare them, in order.
    pub(super) fn interfaces(&self, recording: &Recording) -> Vec<InterfaceDescriptionBlock<'static>> {
        let numbered = self.keys.iter().zip(0..);
        numbered.map(|(key, number)| declared(*key, self.connections_on(number), recording)).collect()
    }

    fn connections_on(&self, number: u32) -> usize {
        self.of_connection.values().filter(|interface| **interface == number).count()
    }
}

/// The end of a connection: as it came to be, else the other of its peer's; where that is not known either, the two
/// ends are distinguished by their numbers.
fn key(row: &Connection, roles: &BTreeMap<u32, u8>) -> Key {
    let peer = roles.get(&row.peer).copied().unwrap_or(role::UNKNOWN);
    let end = match (row.role, peer) {
        (role::CLIENT, _) | (role::UNKNOWN, role::SERVER) => End::Client,
        (role::SERVER, _) | (role::UNKNOWN, role::CLIENT) => End::Server,
        _ if row.peer == 0 => End::Unknown,
        _ if row.id < row.peer => End::Client,
        _ => End::Server,
    };
    (row.network_namespace, end)
}

fn declared((namespace, end): Key, connections: usize, recording: &Recording) -> InterfaceDescriptionBlock<'static> {
    let name = match end {
        End::Client => "client",
        End::Server => "server",
        End::Unknown => "unknown",
    };
    let many = counted(connections as u64, "connection");
    let seen_by = match end {
        End::Client => format!("{many} seen by the end that connected"),
        End::Server => format!("{many} seen by the end that accepted"),
        End::Unknown => format!("{many} that were there before recording began"),
    };
    let link = match recording.manifest.link.as_str() {
        "" => String::new(),
        link => format!("; the link: {}", crate::text::clean(link)),
    };
    InterfaceDescriptionBlock {
        linktype: DataLink::RAW,
        snaplen: 0,
        options: vec![
            InterfaceDescriptionOption::IfName(Cow::Owned(format!("{name}-{namespace}"))),
            InterfaceDescriptionOption::IfDescription(Cow::Owned(format!(
                "network namespace {namespace}, {seen_by}{link}"
            ))),
            InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
        ],
    }
}
