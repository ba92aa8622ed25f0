//! `refuse-silent`: addresses that do not answer refuse at once.

use super::{Intervention, NotHere, Prediction, Request, intervention};
use crate::intervention_counters::InterventionCounters;
use crate::treatment::Treatment;
use case::Recording;
use case::tables::{direction, role, transport};
use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

intervention! {
    /// # refuse-silent
    ///
    /// ## What it does
    /// Lets TCP connects fail at once (network unreachable), in the kernel, for each address and port that never answered
    /// in the recording, as on a host without a route there. The program goes on to the next address without a delay.
    ///
    /// ## What it reaches
    /// Every program in the subject's cgroup, whatever language it is written in. If no BPF program can be attached to a
    /// cgroup, the shim `refuse-silent` does the same for programs that use libc. Addresses are those of the recording, 64
    /// at most; later ones are left alone.
    ///
    /// ## How we know it took effect
    /// The BPF program counts the connects that it let fail.
    ///
    /// ## What it cannot prove
    /// Why the address is silent: a firewall, a missing route and a host that is down look the same from here.
    pub const REFUSE_SILENT: Intervention = Intervention {
        name: "refuse-silent",
        summary: "lets connects to addresses that never answer fail at once",
        predictions: &[Prediction::gains("P32"), Prediction::gains("P53")],
        doses: &[],
        unit: "",
        stands_on: &[],
        treat,
        applied,
    };
}

fn treat(request: &Request, treatment: &mut Treatment) -> Result<(), NotHere> {
    let Some(recording) = request.recording else {
        return Err(NotHere("needs a recording that shows which addresses do not answer".into()));
    };
    let silent = silent(recording);
    if silent.is_empty() {
        return Err(NotHere("finds no address that never answered".into()));
    }
    treatment.sockets.get_or_insert_default().unreachable.extend(silent);
    Ok(())
}

fn applied(counters: &InterventionCounters) -> Result<u64, String> {
    match counters.sockets.unwrap_or_default().unreachable {
        0 => Err("no connect went to an address that had been silent".into()),
        failed => Ok(failed),
    }
}

/// Addresses with their ports from which no segment came, though they were asked.
fn silent(recording: &Recording) -> BTreeSet<SocketAddr> {
    let ids = |way: u8| -> BTreeSet<u32> {
        recording.segments.iter().filter(|row| row.direction == way).map(|row| row.connection).collect()
    };
    let (asked, answered) = (ids(direction::OUT), ids(direction::IN));
    let (mut silent, mut answering) = (BTreeSet::new(), BTreeSet::new());
    let clients = recording.connections.iter().filter(|row| row.transport == transport::TCP);
    for row in clients.filter(|row| row.role != role::SERVER && row.role != role::LISTENER) {
        let Ok(ip) = row.remote_address.parse::<IpAddr>() else { continue };
        let address = SocketAddr::new(ip, row.remote_port);
        if row.established.0 != 0 || answered.contains(&row.id) {
            answering.insert(address);
        } else if asked.contains(&row.id) {
            silent.insert(address);
        }
    }
    &silent - &answering
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intervention_counters::SocketCounts;
    use case::tables::{Connection, Segment};

    #[test]
    fn it_took_effect_where_a_connect_failed_by_it() {
        let applied = |unreachable| {
            let sockets = Some(SocketCounts { seen: 5, unreachable, ..SocketCounts::default() });
            (REFUSE_SILENT.applied)(&InterventionCounters { sockets, ..InterventionCounters::default() })
        };
        assert_eq!(applied(3), Ok(3));
        assert!(applied(0).is_err());
    }

    #[test]
    fn an_address_is_silent_if_it_was_asked_and_never_answered() {
        let asked = |id: u32, address: &str| Connection {
            id,
            transport: transport::TCP,
            role: role::CLIENT,
            remote_address: address.to_string(),
            remote_port: 80,
            ..Connection::default()
        };
        let segment = |connection, direction| Segment { connection, direction, ..Segment::default() };
        let recording = Recording {
            connections: vec![asked(1, "::1"), asked(2, "10.0.0.1"), asked(3, "fd00::1"), asked(4, "fd00::1")],
            segments: vec![
                segment(1, direction::OUT),
                segment(2, direction::OUT),
                segment(2, direction::IN),
                segment(3, direction::OUT),
                segment(4, direction::OUT),
                segment(4, direction::IN),
            ],
            ..Recording::default()
        };
        assert_eq!(silent(&recording).into_iter().collect::<Vec<_>>(), ["[::1]:80".parse().expect("an address")]);
    }
}
