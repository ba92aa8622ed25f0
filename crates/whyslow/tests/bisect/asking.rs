//! Asking for a culprit, and reading the answer.

use super::planted::{PROGRAM, Planted};
use crate::stage::{Ran, Stage};
use testing::{Turn, alone, budget, is_root};

use case::{Bisection, FactorKind, Probe, ProbeKind};

/// The right to measure; none, with a word on it, for who is not root.
pub fn turn() -> Option<Turn> {
    is_root().then(alone)
}

/// An answer.
pub struct Answered {
    pub bisection: Bisection,
    pub code: i32,
}

/// Asks which of what differs between planted worlds makes the difference. More options may be given.
pub fn ask(planted: &Planted, options: &[&str]) -> Answered {
    ask_worlds(&Stage::new(), &planted.names(), options, &[PROGRAM])
}

/// The same of any two worlds and any command.
pub fn ask_worlds(stage: &Stage, worlds: &[String; 2], options: &[&str], command: &[&str]) -> Answered {
    let ran = asked(stage, worlds, &[options, &["--json"]].concat(), command).answered();
    let bisection = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    Answered { bisection, code: ran.code }
}

/// What came of asking, whatever it was.
pub fn asked(stage: &Stage, [good, bad]: &[String; 2], options: &[&str], command: &[&str]) -> Ran {
    let own = ["bisect", "--only-search", "-o", "case", "--good", good.as_str(), "--bad", bad.as_str()];
    // What it has by default, on a machine of the usual speed.
    let (budget, is_given) = (budget(120), options.contains(&"--budget"));
    let budget = if is_given { &[][..] } else { &["--budget", &budget] };
    stage.run(&[&own, budget, options, &["--"], command].concat())
}

impl Answered {
    /// The names of what cures the bad world.
    pub fn cure(&self) -> Vec<&str> {
        let culprit = self.bisection.culprit.as_ref();
        let culprit =
            culprit.unwrap_or_else(|| panic!("no culprit: {}\n{:#?}", self.bisection.summary, self.bisection));
        let mut names = culprit.cure.iter().map(String::as_str).collect::<Vec<_>>();
        names.sort_unstable();
        names
    }

    /// What differs, by name.
    pub fn factors(&self, kind: FactorKind) -> Vec<&str> {
        let of_kind = self.bisection.factors.iter().filter(|factor| factor.kind == kind);
        of_kind.map(|factor| factor.name.as_str()).collect()
    }

    /// As many probes as halving takes twice over, and a few: what one culprit may cost.
    pub fn expect_few_probes(&self) {
        let factors = self.bisection.factors.len().max(1);
        let most = 2 * factors.next_power_of_two().ilog2() + 6;
        let trials = self.bisection.trials;
        assert!(trials <= most, "{trials} probes for {factors} factors: {:#?}", self.bisection.probes);
        let searching = [ProbeKind::All, ProbeKind::Suspect, ProbeKind::Part, ProbeKind::Shrink];
        let is_search = |probe: &&Probe| searching.contains(&probe.kind);
        let counted = self.bisection.probes.iter().filter(is_search).count();
        assert!(counted <= most as usize, "{counted} are shown: {:#?}", self.bisection.probes);
    }
}
