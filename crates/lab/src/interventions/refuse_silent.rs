//! `refuse-silent`: addresses that do not answer refuse at once.

use super::{Intervention, NotHere, Prediction, Request, intervention};
use crate::treatment::{Preload, Treatment};
use case::Recording;
use case::tables::{direction, role, transport};
use std::collections::BTreeSet;

/// What a shim's parameter can hold (`shim_parameter` in `shim.h`), less the end of the line and of the text.
const LONGEST: usize = 253;

intervention! {
    /// # refuse-silent
    ///
    /// ## What it does
    /// Lets `connect` fail at once (network unreachable) for each address and port that never answered in the recording,
    /// as on a host without a route there. The program goes on to the next address without a delay.
    ///
    /// ## What it reaches
    /// Dynamically linked programs that connect through libc. Not Go, not static programs, not connects made through
    /// io_uring. Addresses are those of the recording, as many as fit; later ones are left alone.
    ///
    /// ## How we know it took effect
    /// The shim counts the connects that it let fail.
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
        applied: |counters| counters.of_shim("refuse-silent"),
    };
}

fn treat(request: &Request, treatment: &mut Treatment) -> Result<(), NotHere> {
    let Some(recording) = request.recording else {
        return Err(NotHere("needs a recording that shows which addresses do not answer".into()));
    };
    let mut parameter = String::new();
    for word in silent(recording) {
        if parameter.len() + word.len() < LONGEST {
            parameter.push_str(if parameter.is_empty() { "" } else { " " });
            parameter.push_str(&word);
        }
    }
    if parameter.is_empty() {
        return Err(NotHere("finds no address that never answered".into()));
    }
    treatment.preloads.push(Preload { shim: "refuse-silent", parameter });
    Ok(())
}

/// Addresses with their ports from which no segment came, though they were asked.
fn silent(recording: &Recording) -> BTreeSet<String> {
    let ids = |way: u8| -> BTreeSet<u32> {
        recording.segments.iter().filter(|row| row.direction == way).map(|row| row.connection).collect()
    };
    let (asked, answered) = (ids(direction::OUT), ids(direction::IN));
    let (mut silent, mut answering) = (BTreeSet::new(), BTreeSet::new());
    let clients = recording.connections.iter().filter(|row| row.transport == transport::TCP);
    for row in clients.filter(|row| row.role != role::SERVER && row.role != role::LISTENER) {
        let word = format!("{}/{}", row.remote_address, row.remote_port);
        if row.established.0 != 0 || answered.contains(&row.id) {
            answering.insert(word);
        } else if asked.contains(&row.id) {
            silent.insert(word);
        }
    }
    &silent - &answering
}

#[cfg(test)]
mod tests {
    use super::*;
    use case::tables::{Connection, Segment};

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
        assert_eq!(silent(&recording).into_iter().collect::<Vec<_>>(), ["::1/80"]);
    }
}
