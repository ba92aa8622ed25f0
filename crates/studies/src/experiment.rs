//! An experiment upon programs: what is wanted of it, its trials run one after the other, and what came of them.

use crate::{Activity, Console, StudyError};
use case::tables::Trial;
use case::{Answer, Manifest, Stopped};
use lab::{Arm, Arms, Asked, Experiment, Extent, Journal, Laboratory, Subject, Terms, World};
use std::time::Duration;

/// The longest name of a file that is made of an arm's; a file system takes 255 bytes, endings included.
const MOST_NAME_BYTES: usize = 200;

/// What the user wants of proving.
#[derive(Clone)]
pub struct Wish {
    /// Whether to prove at all.
    pub is_wanted: bool,
    /// What the user wants to be tried besides.
    pub asked: Vec<Asked>,
    /// Time for all trials.
    pub budget: Duration,
    /// Whether what the program writes is compared.
    pub compares_output: bool,
    /// What to judge by, where the user said so.
    pub metric: Option<lab::Metric>,
}

/// What an experiment stands on: the programs, where they run, and what is wanted.
#[derive(Clone, Copy)]
pub struct Ground<'a> {
    /// What is run.
    pub subject: &'a Subject,
    /// Where.
    pub world: &'a World,
    /// What is wanted.
    pub wish: &'a Wish,
}

/// An experiment that is over.
pub struct Tried {
    /// What was tried, and what for.
    pub experiment: Experiment,
    /// Its trials.
    pub trials: Vec<Trial>,
    /// Its arms.
    pub arms: Vec<Arm>,
}

/// Runs the trials of an experiment.
pub fn experiment(
    answer: &Answer,
    arms: Arms,
    ground: &Ground,
    manifest: &Manifest,
    console: &dyn Console,
) -> Result<Tried, StudyError> {
    let Ground { subject, world, wish } = *ground;
    let all = arms.alone.clone();
    if all.is_empty() {
        return Ok(Tried { experiment: arms.experiment, trials: Vec::new(), arms: all });
    }
    if !arms.experiment.attempts.is_empty() {
        let most = wish.budget.as_secs_f64();
        console.note(&match arms.base {
            None => {
                format!("running the program again to prove it, for up to {most:.0} s (--no-prove skips this)")
            }
            Some(_) => format!("trying the new suspects the same way, for up to {most:.0} s"),
        });
    }
    let activity = Activity::of(console, "proving");
    let say = |line: &str| activity.say(line);
    let mut wait = |longest: Duration| console.next(longest).is_some();
    let journal = Journal::open()?;
    let mut laboratory = Laboratory::open(&journal, wish.metric.as_ref(), &mut wait)?;
    let terms = Terms {
        budget: wish.budget,
        // The order of arms is drawn anew for each run, and again the same where a case is looked at.
        seed: manifest.started_unix_seconds,
        compares_output: wish.compares_output,
        say: &say,
    };
    let mut execute = |arm: &lab::Arm, extent: &Extent| laboratory.run(subject, world, &arm.treatment, extent);
    let proved = lab::prove(arms, answer, &mut execute, &terms);
    drop(activity);
    let (experiment, trials) = proved?;
    if experiment.stopped == Some(Stopped::Interrupted) {
        console.note("the proof was cut short; the answer uses the trials so far");
    }
    Ok(Tried { experiment, trials, arms: all })
}

/// An arm's name, as far as it fits into a file's.
pub fn file_name(arm: &str) -> String {
    arm.chars().take(MOST_NAME_BYTES).collect()
}
