//! Errors of comparing and sweeping.

use super::{Failure, again};
use lab::LabError;
use lab::compare::{Unlike, Which};
use std::path::Path;
use std::time::Duration;

impl Failure {
    /// A condition about a metric that was not measured.
    pub fn gate(condition: &str, metrics: &[lab::Metric]) -> Failure {
        let measured = metrics.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let why = format!("what can be told of these programs is: {measured}");
        Failure::new(format!("--fail-if `{condition}` cannot be decided"), why, "--fail-if 'wall > 1.05x'")
    }

    /// A case that no comparison has left.
    pub fn no_baseline(folder: &Path) -> Failure {
        let why = format!("{} was not left by `whyslow compare`", folder.display());
        Failure::new("there is nothing to compare with", why, "whyslow compare -o FOLDER -- COMMAND   (keeps one)")
    }

    /// Two sides that do not do the same.
    pub fn unlike(unlike: &Unlike, case: &Path) -> Failure {
        let kept = format!("what was run so far is kept in {}", case.display());
        match unlike {
            Unlike::Fails { which, status, other, said } => {
                let said = if said.is_empty() { String::new() } else { format!(": {said}") };
                let why = format!("it ends with status {status}, the other with {other}{said}; {kept}");
                Failure::new(format!("{} fails", which.arm()), why, format!("run {}'s command alone", which.arm()))
            }
            Unlike::Broken { which, why } => {
                let what = format!("{} cannot be measured any more", which.arm());
                Failure::new(what, format!("{why}; {kept}"), format!("run {}'s command alone", which.arm()))
            }
            Unlike::Unmeasured { which, metric } => {
                let what = format!("{} has no {metric}", which.arm());
                let why = format!("none of its runs told any; {kept}");
                Failure::new(what, why, format!("run {}'s command alone, or without --metric", which.arm()))
            }
            Unlike::Writes { a, b } => {
                let why = format!("where A writes {a}, B writes {b}; {kept}");
                let remedy = "--check-output never, where they are to be compared all the same";
                Failure::new("A and B do not do the same", why, remedy)
            }
        }
    }

    /// A side that runs on, of which there is nothing to count either.
    pub fn endless(which: Which, recorded: Duration, case: &Path) -> Failure {
        let (name, seconds) = (which.arm(), recorded.as_secs_f64());
        let why = format!(
            "it still ran after {seconds:.0} s and makes no requests to count; what was recorded is kept in {}",
            case.display()
        );
        let remedy = format!("--budget {}, where it ends by itself", typed(recorded * 16));
        Failure::new(format!("{name} does not end"), why, remedy)
    }

    /// Programs that run too long for a budget.
    pub fn over_budget(least: Duration, budget: Duration, case: &Path) -> Failure {
        let why = format!(
            "four runs of both take {}, and fewer tell nothing; what was recorded is kept in {}",
            typed(least),
            case.display()
        );
        Failure::new(
            format!("{} are too short for these programs", typed(budget)),
            why,
            format!("--budget {}", typed(least * 3)),
        )
    }

    /// The same, where it is one side of a comparison that failed.
    #[must_use]
    pub fn of_side(mut self, which: Which) -> Failure {
        self.what = format!("{}: {}", which.arm(), self.what);
        self
    }

    /// Ctrl-C while something was recorded on which the rest stands.
    pub fn given_up(case: &Path) -> Failure {
        let why = format!("there is nothing to go on with yet; what was recorded is in {}", case.display());
        Failure::new("interrupted", why, again())
    }

    /// Values that cannot be swept through.
    pub fn vary(why: &str) -> Failure {
        Failure::new("--vary was not understood", why, "whyslow sweep --vary size=1..16K:log -- COMMAND {size}")
    }

    /// A sweep that came to nothing.
    pub fn sweep(error: LabError) -> Failure {
        match error {
            LabError::World(why) => {
                Failure::new("no value could be measured", why, "run the command alone at one of the values")
            }
            LabError::Interrupted => Failure::new("interrupted", "nothing had been measured yet", again()),
            other => other.into(),
        }
    }
}

/// A length of time as it is typed: `40s`, `5m`.
fn typed(length: Duration) -> String {
    let seconds = length.as_secs_f64().ceil() as u64;
    if seconds < 120 { format!("{seconds}s") } else { format!("{}m", seconds.div_ceil(60)) }
}
