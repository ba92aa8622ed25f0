//! `whyslow run -- COMMAND`: starts, records, diagnoses, answers.

use super::answer;
use crate::arguments::RunArguments;
use crate::fail::{self, Failure};
use crate::interrupts::Interrupts;
use crate::invoker::Invoker;
use crate::plan::Plan;
use crate::progress::Progress;
use crate::recording::{LOOKING, Take, Taken};
use crate::{folder, page, proof, recording, typed};
use case::Recording;
use lab::{Kind, Outputs, Treatment};
use record::{Ended, Output};

/// Runs the programs, and prints what the recording means.
pub fn run(typed: &RunArguments) -> Result<u8, Failure> {
    let invoker = Invoker::find();
    let plan = Plan::make(typed, &invoker)?;
    folder::make_parents(&plan.folder, &invoker)?;
    let interrupts = Interrupts::take()?;
    let recorded = recording::record(take(typed, &plan), &interrupts);
    // Also after an error: what there is of the case belongs to the user.
    invoker.own(&plan.folder);
    let Taken { case, ended, .. } = recorded?;
    let progress = Progress::of(LOOKING);
    let recording = Recording::load(&case)?;
    let mut answer = answer::draw(&recording, &case, typed.answer);
    drop(progress);
    let proved = proof::prove(&mut answer, &case, recording, &plan, &interrupts);
    answer.page = page::keep(&case, || Ok(page::of_answer(&answer, &Recording::load(&case)?)));
    drop(interrupts);
    let kept = case.keep("answer.json", &answer);
    invoker.own(&plan.folder);
    // What was found is told, also where the programs could not be started again, or the disk has filled up meanwhile.
    let code = answer::show(&answer, typed.answer)?;
    proved?;
    kept?;
    Ok(ended.filter(|_| typed.exit_as_subject).map_or(code, exit_of_subject))
}

/// What is recorded: the user's own run, its words passed through.
fn take<'a>(arguments: &RunArguments, plan: &'a Plan) -> Take<'a> {
    let outputs = Outputs {
        client: if arguments.answer.json { Output::ToStandardError } else { Output::Inherited },
        // A server's standard output is a log: it goes with ours, so that the client's stays what it is.
        server: Output::ToStandardError,
        ..Outputs::default()
    };
    Take {
        subject: &plan.subject,
        world: &plan.world,
        treatment: Treatment::default(),
        outputs,
        doing: "recording",
        kind: Kind::Watched,
        limits: plan.limits,
        folder: &plan.folder,
        manifest: typed::manifest(&plan.subject, &plan.world),
        options: &plan.options,
    }
}

/// The status a shell would show.
fn exit_of_subject(ended: Ended) -> u8 {
    let status = ended.exit.or(ended.signal.map(|signal| 128 + signal));
    status.and_then(|status| u8::try_from(status).ok()).unwrap_or(fail::ERROR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_subjects_status_is_as_a_shell_shows_it() {
        assert_eq!(exit_of_subject(Ended { exit: Some(7), signal: None }), 7);
        assert_eq!(exit_of_subject(Ended { exit: None, signal: Some(9) }), 137);
    }
}
