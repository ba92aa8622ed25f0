//! What stands upon a found culprit: what cures the bad world without going back, and the control.

use super::baseline::{Baseline, compare};
use super::question::Asked;
use crate::diagnosis::{self, Diagnosis};
use crate::experiment::{Ground, Wish};
use crate::{Console, Document, Done, StudyError, proof, views};
use case::{Bisection, Case};
use lab::Laboratory;
use lab::compare::{compared, metrics_of};

/// The part of the budget for trying what would cure the bad world.
const CURES_PART: u32 = 3;

/// Runs the control in both worlds.
pub fn control(
    asked: &Asked,
    baseline: &Baseline,
    laboratory: &mut Laboratory,
    console: &dyn Console,
    bisection: &mut Bisection,
) -> Result<(), StudyError> {
    let Some(subject) = &asked.terms.control else { return Ok(()) };
    let bad = &baseline.bad_run().answer;
    let metrics = metrics_of(&[bad], &baseline.extent, asked.terms.metric.as_ref());
    let measured = compare(asked, subject, &metrics, baseline.extent, baseline.seed, laboratory, console)?;
    if measured.unlike.is_some() {
        bisection.not_tried.push("The control was not compared: it exits differently in the two worlds.".to_string());
        return Ok(());
    }
    bisection.runs += measured.trials.len() as u32;
    bisection.control = compared(&measured.trials, &metrics);
    bisection.control.sort_by_key(|one| one.metric != baseline.metric);
    Ok(())
}

/// Looks in the recorded bad run for what makes it slow, and tries what would cure that: a study of its own, in the case of
/// that run.
pub fn cures(
    asked: &Asked,
    baseline: &Baseline,
    console: &dyn Console,
    bisection: &mut Bisection,
) -> Result<Done, StudyError> {
    let run = baseline.bad_run();
    let case = Case::open(&run.folder)?;
    let world = asked.bad.world(&asked.terms.world, asked.terms.end, &[]);
    let wish = Wish {
        is_wanted: true,
        asked: Vec::new(),
        budget: asked.terms.budget / CURES_PART,
        compares_output: true,
        metric: asked.terms.metric.clone(),
    };
    let ground = Ground { subject: &asked.terms.subject, world: &world, wish: &wish };
    console.note("trying fixes for the bad world that need no downgrade");
    let recording = diagnosis::load_with_names(&case, console)?;
    let Diagnosis { analysis, mut answer } =
        Diagnosis::of(&recording, case.folder(), diagnose::Options::default(), console);
    let proved = proof::prove(&mut answer, &case, &recording, &ground, console);
    if diagnosis::keeps_no_names(&case) {
        let done = Done::without_names(case, diagnose::Options::default(), console)?;
        if let Document::Answer(answer) = &done.document {
            bisection.cures.clone_from(&answer.findings);
        }
        return Ok(Done { failed: proved.err(), ..done });
    }
    let views = views::gathered(console, || Ok(views::of_answer(&answer, &analysis, &case.read()?)));
    bisection.cures.clone_from(&answer.findings);
    Ok(Done { failed: proved.err(), ..Done::of(Document::Answer(Box::new(answer)), case, views) })
}
