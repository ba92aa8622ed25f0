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
        let why = format!("metrics measured for these programs: {measured}");
        Failure::new(format!("--fail-if `{condition}` cannot be checked"), why, "--fail-if 'wall > 1.05x'")
    }

    /// A case that no comparison has left.
    pub fn no_baseline(folder: &Path) -> Failure {
        let why = format!("{} was not written by `whyslow compare`", folder.display());
        Failure::new("no baseline", why, "whyslow compare -o FOLDER -- COMMAND   (makes one)")
    }

    /// Two sides that do not do the same.
    pub fn unlike(unlike: &Unlike, case: &Path) -> Failure {
        let kept = format!("the runs so far are in {}", case.display());
        match unlike {
            Unlike::Fails { which, status, other, said } => {
                let said = if said.is_empty() { String::new() } else { format!(": {said}") };
                let why = format!("it exits with status {status}, the other with {other}{said}; {kept}");
                Failure::new(format!("{} fails", which.arm()), why, format!("run {}'s command on its own", which.arm()))
            }
            Unlike::Broken { which, why } => {
                let what = format!("{} can no longer be measured", which.arm());
                Failure::new(what, format!("{why}; {kept}"), format!("run {}'s command on its own", which.arm()))
            }
            Unlike::Unmeasured { which, metric } => {
                let what = format!("{} has no {metric}", which.arm());
                let why = format!("none of its runs reported one; {kept}");
                Failure::new(what, why, format!("run {}'s command on its own, or drop --metric", which.arm()))
            }
            Unlike::Writes { a, b } => {
                let why = format!("A writes {a}, B writes {b}; {kept}");
                let remedy = "--check-output never, to compare them anyway";
                Failure::new("A and B write different output", why, remedy)
            }
        }
    }

    /// A side that runs on, of which there is nothing to count either.
    pub fn endless(which: Which, recorded: Duration, case: &Path) -> Failure {
        let (name, seconds) = (which.arm(), recorded.as_secs_f64());
        let why = format!(
            "it still ran after {seconds:.0} s and makes no requests to count; the recording is in {}",
            case.display()
        );
        let remedy = format!("--budget {}, if it ends by itself", typed(recorded * 16));
        Failure::new(format!("{name} does not end"), why, remedy)
    }

    /// Programs that run too long for a budget.
    pub fn over_budget(least: Duration, budget: Duration, case: &Path) -> Failure {
        let why = format!(
            "it takes four runs of each at least, {} in all; the recording is in {}",
            typed(least),
            case.display()
        );
        Failure::new(
            format!("{} is too short for these programs", typed(budget)),
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
        let why = format!("there is nothing to work with yet; the recording so far is in {}", case.display());
        Failure::new("interrupted", why, again())
    }

    /// Values that cannot be swept through.
    pub fn vary(why: &str) -> Failure {
        Failure::new("invalid value for --vary", why, "whyslow sweep --vary size=1..16K:log -- COMMAND {size}")
    }

    /// A sweep that came to nothing.
    pub fn sweep(error: LabError) -> Failure {
        match error {
            LabError::World(why) => {
                Failure::new("no value could be measured", why, "run the command on its own with one of the values")
            }
            LabError::Interrupted => Failure::new("interrupted", "nothing has been measured yet", again()),
            other => other.into(),
        }
    }
}

/// A length of time as it is typed: `40s`, `5m`.
fn typed(length: Duration) -> String {
    let seconds = length.as_secs_f64().ceil() as u64;
    if seconds < 120 { format!("{seconds}s") } else { format!("{}m", seconds.div_ceil(60)) }
}
