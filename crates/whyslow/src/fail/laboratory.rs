//! Errors of comparing and sweeping.

use super::{Failure, again};
use lab::LabError;
use lab::compare::{Unlike, Which};
use std::path::Path;

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
            Unlike::Writes { a, b } => {
                let why = format!("where A writes {a}, B writes {b}; {kept}");
                let remedy = "--check-output never, where they are to be compared all the same";
                Failure::new("A and B do not do the same", why, remedy)
            }
        }
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
