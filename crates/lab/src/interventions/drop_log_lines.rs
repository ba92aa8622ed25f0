//! `drop-log-lines`: debug output goes nowhere.

use super::{Intervention, NotHere, Prediction, Request, intervention};
use crate::treatment::{Preload, Treatment};

/// What a shim's parameter can hold (`shim_parameter` in `shim.h`), less the end of the line and of the text.
const LONGEST: usize = 253;

intervention! {
    /// # drop-log-lines
    ///
    /// ## What it does
    /// Answers each `write` of a line to the log of the finding as if it had been written, and drops it. The lines are
    /// still formatted: turning the level down would save that, too.
    ///
    /// ## What it reaches
    /// Dynamically linked programs that write their log themselves (nginx, Apache, CPython, Java). Not what the C
    /// library writes for them (fprintf, std::cerr, syslog), not Go, not static programs. One file, or standard error;
    /// pieces longer than 4 kB are written.
    ///
    /// ## How we know it took effect
    /// The shim counts the lines that it dropped.
    ///
    /// ## What it cannot prove
    /// That nobody needs them: in the trials the log stays without these lines. And where nothing is gained, not that they
    /// cost nothing: they are still formatted, and asking whose descriptor each goes to takes time as well.
    pub const DROP_LOG_LINES: Intervention = Intervention {
        name: "drop-log-lines",
        summary: "drops the lines of the log before they are written",
        predictions: &[
            Prediction::gains("P46").refutes_nothing("formatting the lines stays, and can be most of what they cost"),
        ],
        doses: &[],
        unit: "",
        stands_on: &[],
        treat,
        applied: |counters| counters.of_shim("drop-log-lines"),
    };
}

fn treat(request: &Request, treatment: &mut Treatment) -> Result<(), NotHere> {
    let log = log(request).ok_or_else(|| NotHere("needs a finding that names the log".into()))?;
    if log.len() >= LONGEST || (log != "stderr" && !log.starts_with('/')) {
        return Err(NotHere(format!("needs a log with an absolute path of at most {LONGEST} bytes")));
    }
    treatment.preloads.push(Preload { shim: "drop-log-lines", parameter: log.to_string() });
    Ok(())
}

/// The file that the calls of the finding wrote to.
fn log<'r>(request: &Request<'r>) -> Option<&'r str> {
    let (recording, finding) = (request.recording?, request.finding?);
    let row = finding.evidence.rows.first().filter(|_| finding.evidence.table == "calls")?;
    let call = recording.calls.get(*row as usize)?;
    match call.path {
        0 => Some("stderr"),
        id => recording.paths.iter().find(|path| path.id == id).map(|path| path.path.as_str()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::World;
    use crate::interventions::tests::{finding_at, request};
    use crate::treatment::End;
    use case::tables::Path;

    #[test]
    fn it_names_the_log_of_the_finding_and_nothing_else() {
        let (mut recording, finding) = finding_at(End::Server);
        recording.paths.push(Path { id: 3, path: "/var/log/error.log".into() });
        recording.calls[0].path = 3;
        let world = World::default();
        let with = |recording: &case::Recording| {
            let mut treatment = Treatment::default();
            let request = Request { recording: Some(recording), finding: Some(&finding), ..request(&world) };
            treat(&request, &mut treatment).map(|()| treatment.preloads[0].parameter.clone())
        };
        assert_eq!(with(&recording), Ok("/var/log/error.log".into()));
        recording.paths[0].path = "error.log".into();
        assert!(with(&recording).is_err());
        recording.calls[0].path = 0;
        assert_eq!(with(&recording), Ok("stderr".into()));
        assert!(treat(&request(&world), &mut Treatment::default()).is_err());
    }
}
