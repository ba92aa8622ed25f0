//! `more-descriptors`: a program may have many files and connections open.

use super::{Intervention, NotHere, Prediction, Request, intervention};
use crate::treatment::{Preload, Treatment};
use case::syscall;

intervention! {
    /// # more-descriptors
    ///
    /// ## What it does
    /// Has each process allow itself 65,536 open descriptors when it begins (RLIMIT_NOFILE), or as many as it may, and makes
    /// `setrlimit` and `prlimit` that ask for fewer do nothing.
    ///
    /// ## What it reaches
    /// Dynamically linked programs that use libc, the `ulimit` of a shell among them. Not a limit that a service manager or
    /// a container has set for good, beyond which only root can go, and not a limit of the whole machine (ENFILE).
    ///
    /// ## How we know it took effect
    /// The shim counts processes that were allowed more by it, and requests that were ignored. Tried only where calls
    /// failed for want of a descriptor (EMFILE).
    ///
    /// ## What it cannot prove
    /// Whether descriptors leak: if they do, a higher limit only puts off the end.
    pub const MORE_DESCRIPTORS: Intervention = Intervention {
        name: "more-descriptors",
        summary: "lets the program have 65,536 files and connections open",
        predictions: &[Prediction::gains("P18")],
        treat,
        applied: |counters| counters.of_shim("more-descriptors"),
    };
}

fn treat(request: &Request, treatment: &mut Treatment) -> Result<(), NotHere> {
    let (recording, finding) =
        request.recording.zip(request.finding).ok_or_else(|| NotHere("needs a recording".to_string()))?;
    let mut calls = finding.evidence.rows.iter().filter_map(|row| recording.calls.get(*row as usize));
    if finding.evidence.table != "calls" || !calls.any(|call| call.result == syscall::NO_DESCRIPTOR) {
        return Err(NotHere("needs calls that failed for want of a descriptor (EMFILE)".to_string()));
    }
    treatment.preloads.push(Preload { shim: "more-descriptors", parameter: "on".into() });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::World;
    use crate::interventions::tests::{finding_at, request};
    use crate::treatment::End;
    use case::tables::Call;

    #[test]
    fn only_a_program_that_ran_out_of_descriptors_is_allowed_more() {
        let (mut recording, mut finding) = finding_at(End::Server);
        let world = World::default();
        let preloads = |recording: &case::Recording, finding: &case::Finding| {
            let request = Request { recording: Some(recording), finding: Some(finding), ..request(&world) };
            let mut treatment = Treatment::default();
            treat(&request, &mut treatment).map(|()| treatment.preloads.len())
        };
        assert!(preloads(&recording, &finding).is_err());
        recording.calls.push(Call { result: syscall::NO_DESCRIPTOR, ..Call::default() });
        finding.evidence.table = "calls".into();
        finding.evidence.rows = vec![recording.calls.len() as u64 - 1];
        assert!(matches!(preloads(&recording, &finding), Ok(1)));
    }
}
