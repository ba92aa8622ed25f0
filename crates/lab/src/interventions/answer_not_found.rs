//! `answer-not-found`: whom a handshake asks answers at once.

use super::{Intervention, NotHere, Prediction, Request, intervention};
use crate::aspect::Aspect;
use crate::treatment::{Preload, Treatment};
use std::collections::BTreeSet;

/// What a shim's parameter can hold (`shim_parameter` in `shim.h`), less the end of the line and of the text.
const LONGEST: usize = 253;

intervention! {
    /// # answer-not-found
    ///
    /// ## What it does
    /// Answers connections to each address that was asked in the middle of a TLS handshake within the program, at once and
    /// in HTTP: 404, what is asked for is not there. Programs that take no answer for a good one (soft fail, the default
    /// of nearly all) go on without the wait.
    ///
    /// ## What it reaches
    /// Dynamically linked programs that connect through libc. Not Go, not static programs. Addresses are those of the
    /// finding's evidence.
    ///
    /// ## What can go wrong
    /// A program that insists on an answer fails its handshake, and the arm is dropped because it broke the program. It
    /// then proves nothing.
    ///
    /// ## How we know it took effect
    /// The shim counts the connections that it answered.
    ///
    /// ## What it cannot prove
    /// That the check can be left out. It shows what waiting for it costs, which stapling or fetching ahead of time would
    /// save.
    pub const ANSWER_NOT_FOUND: Intervention = Intervention {
        name: "answer-not-found",
        summary: "answers at once, in the place of whom a handshake asks, that it is not there",
        predictions: &[Prediction::gains("P15")],
        doses: &[],
        unit: "",
        // The questions themselves are exchanges, and are not made.
        may_change: &[Aspect::Exchanges, Aspect::Bytes, Aspect::Statuses],
        stands_on: &[],
        treat,
        applied: |counters| counters.of_shim("answer-not-found"),
    };
}

fn treat(request: &Request, treatment: &mut Treatment) -> Result<(), NotHere> {
    let addresses = asked(request);
    let mut parameter = String::new();
    for word in addresses {
        if parameter.len() + word.len() < LONGEST {
            parameter.push_str(if parameter.is_empty() { "" } else { " " });
            parameter.push_str(&word);
        }
    }
    if parameter.is_empty() {
        return Err(NotHere("needs a finding that names whom a handshake asks".into()));
    }
    treatment.preloads.push(Preload { shim: "answer-not-found", parameter });
    Ok(())
}

/// The addresses, with their ports, that the finding's calls connected to.
fn asked(request: &Request) -> BTreeSet<String> {
    let (Some(recording), Some(finding)) = (request.recording, request.finding) else { return BTreeSet::new() };
    let rows = finding.evidence.rows.iter().filter(|_| finding.evidence.table == "calls");
    let ids: BTreeSet<u32> =
        rows.filter_map(|row| recording.calls.get(*row as usize)).map(|call| call.connection).collect();
    let named = recording.connections.iter().filter(|row| row.remote_port > 0 && ids.contains(&row.id));
    named.map(|row| format!("{}/{}", row.remote_address, row.remote_port)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::World;
    use crate::interventions::tests::{finding_at, request};
    use crate::treatment::End;
    use case::tables::Connection;

    #[test]
    fn it_names_whom_the_calls_of_the_finding_connected_to() {
        let (mut recording, finding) = finding_at(End::Client);
        recording.calls[0].connection = 4;
        let row =
            |id, port| Connection { id, remote_address: "10.0.0.9".into(), remote_port: port, ..Connection::default() };
        recording.connections = vec![row(3, 443), row(4, 80)];
        let (world, mut treatment) = (World::default(), Treatment::default());
        let of_finding = Request { recording: Some(&recording), finding: Some(&finding), ..request(&world) };
        treat(&of_finding, &mut treatment).expect("an address");
        assert_eq!(treatment.preloads, [Preload { shim: "answer-not-found", parameter: "10.0.0.9/80".into() }]);
        assert!(treat(&request(&world), &mut Treatment::default()).is_err());
    }
}
