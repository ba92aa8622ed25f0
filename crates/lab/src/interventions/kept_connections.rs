//! `kept-connections`: connections that are closed and opened again stay open.

use super::{Intervention, NotHere, Prediction, Request, intervention};
use crate::treatment::{Preload, Treatment};
use case::facts::Observation;
use std::collections::BTreeSet;

/// What the shim is called.
const SHIM: &str = "kept-connections";

intervention! {
    /// # kept-connections
    ///
    /// ## What it does
    /// Keeps a TCP connection that a program opened and closes, and gives it back when the same process connects to the same
    /// address: where both ends are open and all that came has been read. Where a program says that it writes no more before it
    /// closes, and has its answer, the server is not told.
    ///
    /// ## What it reaches
    /// Dynamically linked programs that connect and close through libc, and whose protocol takes the next request on the same
    /// connection without a greeting or a login: HTTP without TLS above all. A TLS connection says goodbye before it is
    /// closed, so that a new one is made as before. Not Go, not static programs, not a process for each request.
    ///
    /// ## How we know it took effect
    /// The shim counts the connects that it spared.
    ///
    /// ## What it cannot prove
    /// What an answer that was not read to its end, or a server that closes after each, makes of the next request: then trials
    /// fail, or write something else, and nothing is proved.
    pub const KEPT_CONNECTIONS: Intervention = Intervention {
        name: "kept-connections",
        summary: "keeps connections that a program closes, for its next connect to the same address",
        predictions: &[Prediction::gains("P07")],
        treat,
        applied: |counters| counters.of_shim(SHIM),
    };
}

fn treat(request: &Request, treatment: &mut Treatment) -> Result<(), NotHere> {
    let observed = request.finding.map_or(&[][..], |finding| &finding.observed);
    if observed.iter().any(|one| matches!(one, Observation::Logins { .. })) {
        return Err(NotHere("needs connections without a login: only the program can go on with a session".into()));
    }
    if request.is_made_without_libc() {
        return Err(NotHere("needs a program that connects through libc".into()));
    }
    let connects = request.calls().count();
    let processes: BTreeSet<u32> = request.calls().map(|call| call.pid).collect();
    if processes.len() * 2 > connects && connects > 0 {
        return Err(NotHere("needs a process that connects again: here each connects once".into()));
    }
    let connections: BTreeSet<u32> = request.calls().map(|call| call.connection).collect();
    let handshakes = request.recording.map_or(&[][..], |recording| &recording.handshakes);
    if handshakes.iter().any(|row| connections.contains(&row.connection)) {
        return Err(NotHere("needs connections without TLS: only the program can go on with a TLS connection".into()));
    }
    treatment.preloads.push(Preload { shim: SHIM, parameter: "on".into() });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::World;
    use crate::interventions::tests::{finding_at, request};
    use crate::treatment::End;
    use case::tables::{Call, Handshake};

    /// Whether it is tried where so many processes connect ten times, with TLS or without.
    fn is_tried(processes: u32, handshakes: Vec<Handshake>) -> bool {
        let (mut recording, mut finding) = finding_at(End::Client);
        let connect = |number| Call { pid: 10 + number % processes, connection: number + 1, ..Call::default() };
        recording.calls = (0..10).map(connect).collect();
        recording.handshakes = handshakes;
        finding.evidence.rows = (0..10).collect();
        let world = World::default();
        let request = Request { recording: Some(&recording), finding: Some(&finding), ..request(&world) };
        treat(&request, &mut Treatment::default()).is_ok()
    }

    #[test]
    fn a_session_that_was_logged_in_to_is_not_kept() {
        let (recording, mut finding) = finding_at(End::Client);
        finding.observed.push(Observation::Logins { connections: 10, ns: 2_000_000 });
        let world = World::default();
        let request = Request { recording: Some(&recording), finding: Some(&finding), ..request(&world) };
        assert!(treat(&request, &mut Treatment::default()).is_err_and(|NotHere(why)| why.contains("without a login")));
    }

    #[test]
    fn it_is_tried_where_one_process_connects_again_without_tls() {
        assert!(is_tried(1, Vec::new()));
        assert!(!is_tried(10, Vec::new()), "a process for each request");
        assert!(!is_tried(1, vec![Handshake { connection: 3, ..Handshake::default() }]));
    }
}
