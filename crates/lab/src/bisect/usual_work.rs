//! Whether a run in a world that is probed does the work that runs in the good and the bad world do: one that fails early, or
//! fetches less, is quick without being good.

use crate::compare::{Measured, Which};
use crate::outcome::Outcome;
use crate::outputs::{LEAST_REFERENCES, Learned};
use crate::work::Usual;
use case::tables::{Trial, work};

/// What runs in both worlds did.
#[derive(Default)]
pub struct UsualWork {
    trials: Vec<Trial>,
    /// What is the same in everything that they wrote; none where they do not even write equally many words.
    learned: Option<Learned>,
}

impl UsualWork {
    /// From the trials of both, as they are.
    pub fn of(measured: &Measured) -> UsualWork {
        let enough = measured.outputs.len() >= 2 * LEAST_REFERENCES;
        let learned = enough.then(|| Learned::from(&measured.outputs)).flatten();
        UsualWork { trials: measured.trials.clone(), learned: learned.filter(Learned::says_something) }
    }

    /// How a run's work differs from what is done in either world; none where it does not, as far as can be seen.
    pub fn difference(&self, outcome: &Outcome) -> Option<String> {
        let (_, difference) = Usual::for_trial(&outcome.row, self.trials.iter()).judge(&outcome.row);
        let output = || {
            let word = self.learned.as_ref().filter(|_| outcome.row.exit >= 0)?.difference(&outcome.output)?;
            let place = if word.is_empty() { "it ends early".to_string() } else { format!("beginning with `{word}`") };
            Some(format!("the program's output was different: {place}"))
        };
        difference.map(|difference| difference.to_string()).or_else(output)
    }

    /// How the work in the bad world differs from that in the good one; none where it does not.
    pub fn between(&self) -> Option<String> {
        let of = |which: Which| self.trials.iter().filter(move |row| row.arm == which.arm());
        let judged = of(Which::B).map(|row| Usual::for_trial(row, of(Which::A)).judge(row).1);
        let (other, same): (Vec<_>, Vec<_>) = judged.partition(Option::is_some);
        // One that was disturbed says nothing of the world.
        let first = other.iter().flatten().next().filter(|_| other.len() > same.len());
        first.map(ToString::to_string)
    }

    /// Whether anything tells what the program did: that nothing differs then means something.
    pub fn tells_something(&self) -> bool {
        let is_known = |row: &&Trial| Usual::for_trial(row, self.trials.iter()).judge(row).0 == work::SAME;
        self.learned.is_some() || self.trials.iter().filter(is_known).count() * 2 > self.trials.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::LabError;
    use crate::{Arm, Treatment};
    use case::Nanos;

    /// A run of so many requests in a world.
    fn row(which: Which, made: u64) -> Trial {
        let (arm, wall) = (which.arm().to_string(), Nanos(1_000_000 * made));
        Trial { arm, wall, made, status_2xx: made, answered_bytes: 1_000 * made, ..Trial::default() }
    }

    fn outcome(row: Trial, output: &str) -> Outcome {
        let arm = Arm { name: String::new(), treatment: Treatment::default(), parts: Vec::new() };
        let started = Outcome::not_started(&LabError::Interrupted, &arm, 0, 0);
        Outcome { row: Trial { arm: String::new(), wall: Nanos(9), ..row }, output: output.into(), ..started }
    }

    fn usual(made: [u64; 2], written: [&str; 2]) -> UsualWork {
        let of = |which: Which, at: usize| (row(which, made[at]), written[at].as_bytes().to_vec());
        let rounds = (0..3).flat_map(|_| [of(Which::A, 0), of(Which::B, 1)]);
        let (trials, outputs) = rounds.unzip();
        UsualWork::of(&Measured { trials, outputs, ..Measured::default() })
    }

    #[test]
    fn a_run_that_does_less_or_writes_something_else_is_not_quick_but_different() {
        let usual = usual([200, 200], ["agent 7.0: 200 ok", "agent 8.1: 200 ok"]);
        assert!(usual.tells_something() && usual.between().is_none());
        let of = |made, output| usual.difference(&outcome(row(Which::B, made), output));
        assert_eq!(of(200, "agent 9.2: 200 ok"), None, "versions greet with figures of their own");
        assert_eq!(of(20, "agent 8.1: 200 ok").as_deref(), Some("the program made 20 requests instead of 200"));
        let expected = Some("the program's output was different: beginning with `failed`".to_string());
        assert_eq!(of(200, "agent 8.1: 200 failed"), expected);
    }

    #[test]
    fn worlds_that_do_not_do_the_same_are_known() {
        let usual = usual([200, 400], ["fine", "fine and more"]);
        assert_eq!(usual.between().as_deref(), Some("the program made 400 requests instead of 200"));
        assert_eq!(usual.difference(&outcome(row(Which::B, 300), "")), None, "between the two anything is usual");
    }

    #[test]
    fn what_makes_no_requests_and_writes_nothing_tells_nothing() {
        assert!(!usual([0, 0], ["", ""]).tells_something());
    }
}
