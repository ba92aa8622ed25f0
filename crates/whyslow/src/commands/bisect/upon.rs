//! What stands upon a found culprit: what cures the bad world without going back, and the control.

use super::baseline::{Baseline, compare};
use super::question::Asked;
use crate::commands::answer;
use crate::fail::Failure;
use crate::interrupts::Interrupts;
use crate::plan::{Limits, Plan};
use crate::proof::{self, Wish};
use crate::{output, page};
use case::{Bisection, Case, Recording};
use lab::Laboratory;
use lab::compare::{compared, metrics_of};
use std::path::PathBuf;

/// The part of the budget for trying what would cure the bad world.
const CURES_PART: u32 = 3;

/// Runs the control in both worlds.
pub fn control(
    asked: &Asked,
    baseline: &Baseline,
    laboratory: &mut Laboratory,
    told: &mut Bisection,
) -> Result<(), Failure> {
    let Some(subject) = &asked.terms.control else { return Ok(()) };
    let bad = &baseline.bad_run().answer;
    let metrics = metrics_of(&[bad], &baseline.extent, asked.terms.metric.as_ref());
    let measured = compare(asked, subject, &metrics, baseline.extent, baseline.seed, laboratory)?;
    if measured.unlike.is_some() {
        told.not_tried.push("The control was not compared: it does not end the same way in both worlds.".to_string());
        return Ok(());
    }
    told.runs += measured.trials.len() as u32;
    told.control = compared(&measured.trials, &metrics);
    told.control.sort_by_key(|one| one.metric != baseline.metric.to_string());
    Ok(())
}

/// Looks in the recorded bad run for what makes it slow, and tries what would cure that.
pub fn cures(asked: &Asked, baseline: &Baseline, interrupts: &Interrupts, told: &mut Bisection) -> Result<(), Failure> {
    let run = baseline.bad_run();
    let case = Case::open(&run.folder)?;
    let plan = Plan {
        subject: asked.terms.subject.clone(),
        world: asked.bad.world(&asked.terms.world, asked.terms.end, &[]),
        proof: Wish {
            is_wanted: true,
            asked: Vec::new(),
            budget: asked.terms.budget / CURES_PART,
            compares_output: true,
            metric: asked.terms.metric.clone(),
        },
        limits: Limits::default(),
        folder: PathBuf::from(&run.folder),
        options: record::Options::default(),
    };
    output::say("what would cure the bad world without going back is tried");
    let recording = Recording::load(&case)?;
    let mut answer = answer::draw(&recording, &case, crate::arguments::AnswerArguments::default());
    let proved = proof::prove(&mut answer, &case, recording, &plan, interrupts);
    answer.page = page::keep(&case, || Ok(page::of_answer(&answer, &Recording::load(&case)?)));
    case.keep("answer.json", &answer)?;
    told.cures = answer.findings;
    proved
}
