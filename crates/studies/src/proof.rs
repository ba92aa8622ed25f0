//! Proving what a run suspects: the lab is given the programs, the findings and a budget, and its verdicts go into the
//! answer.

use crate::experiment::{self, Ground, Tried};
use crate::second_pass::{self, SecondPasses};
use crate::{Console, StudyError};
use case::facts::{NotTried, WhyNot};
use case::tables::Trial;
use case::{Answer, Case, Names, Recording};
use lab::{Arms, Experiment, SecondPass, Setting, Subject, TrialSpec};
use record::Input;
use std::collections::BTreeSet;

/// Tries what the findings call for and what shows once that is cured, keeps the trials in the case, and puts the
/// verdicts into the answer.
///
/// # Errors
/// Where the programs cannot be started again, or the case cannot be written.
pub fn prove(
    answer: &mut Answer,
    case: &Case,
    recording: &Recording,
    ground: &Ground,
    console: &dyn Console,
) -> Result<(), StudyError> {
    if !ground.wish.is_wanted {
        return Ok(());
    }
    let subject = match subject(recording, ground) {
        Ok(subject) => subject,
        Err(_) if answer.findings.is_empty() => return Ok(()),
        Err(why) => {
            let not_tried = vec![NotTried::of_all(WhyNot::NotHere, why)];
            let experiment = Experiment { not_tried, ..Experiment::default() };
            lab::judge(answer, &experiment, &[]);
            return Ok(case.keep(lab::EXPERIMENT_FILE, &experiment)?);
        }
    };
    let ground = Ground { subject: &subject, ..*ground };
    let first = if answer.findings.is_empty() {
        nothing_to_try(answer, case, &ground)?
    } else {
        try_findings(answer, case, recording, &ground, console)?
    };
    let trials = first.trials.clone();
    let passes = second_pass::second_pass(answer, first, (&ground, case, recording), console);
    // What the first experiment says stands, whatever becomes of those that follow.
    let (passes, failed) = match passes {
        Ok(passes) => (passes, None),
        Err(failure) => (SecondPasses { all: Vec::new(), trials }, Some(failure)),
    };
    for (second_pass, number) in passes.all.iter().zip(1..) {
        keep_specs(case, &format!("trials-{}", number + 1), &second_pass.experiment, &passes.trials, &ground)?;
        case.keep(&SecondPass::file(number), second_pass)?;
        second_pass.judge(answer, &passes.trials);
    }
    if !passes.trials.is_empty() {
        case.add(passes.trials)?;
    }
    failed.map_or(Ok(()), Err)
}

/// Where nothing was found there is nothing to try; what the user asked for is not passed over in silence.
fn nothing_to_try(answer: &mut Answer, case: &Case, ground: &Ground) -> Result<Tried, StudyError> {
    let not_tried = ground.wish.asked.iter().map(|asked| {
        let name = asked.intervention.name;
        let sentence = format!("{name}: --try needs a finding, and no known cause of slowness was recognised");
        NotTried { intervention: name.to_string(), ..NotTried::of_all(WhyNot::NotHere, sentence) }
    });
    let experiment = Experiment { not_tried: not_tried.collect(), ..Experiment::default() };
    if !experiment.not_tried.is_empty() {
        case.keep(lab::EXPERIMENT_FILE, &experiment)?;
        lab::judge(answer, &experiment, &[]);
    }
    Ok(Tried { experiment, trials: Vec::new(), arms: Vec::new() })
}

/// Tries what the findings call for, and puts the verdicts into the answer.
fn try_findings(
    answer: &mut Answer,
    case: &Case,
    recording: &Recording,
    ground: &Ground,
    console: &dyn Console,
) -> Result<Tried, StudyError> {
    let setting = Setting {
        answer,
        recording,
        world: ground.world,
        has_server: ground.subject.server.is_some(),
        metric: ground.wish.metric.as_ref(),
        asked: &ground.wish.asked,
        compares_output: ground.wish.compares_output,
        upon: None,
    };
    let arms = Arms::of(&setting);
    let mut first = experiment::experiment(answer, arms, ground, &recording.manifest, console)?;
    first.experiment.follow(&[], &mut first.trials);
    keep_specs(case, "trials", &first.experiment, &first.trials, ground)?;
    case.keep(lab::EXPERIMENT_FILE, &first.experiment)?;
    lab::judge(answer, &first.experiment, &first.trials);
    Ok(first)
}

/// Puts what was kept of earlier experiments into an answer that was drawn again.
///
/// # Errors
/// Where what was kept is damaged.
pub fn judge_again(answer: &mut Answer, case: &Case, trials: &[Trial]) -> Result<(), StudyError> {
    if let Some(experiment) = case.kept::<Experiment>(lab::EXPERIMENT_FILE)? {
        lab::judge(answer, &experiment, trials);
    }
    for number in 1.. {
        let Some(second_pass) = case.kept::<SecondPass>(&SecondPass::file(number))? else { break };
        second_pass.judge(answer, trials);
    }
    Ok(())
}

/// Keeps a file for each arm from which `whyslow trial` runs it again, here or elsewhere. What could be a secret in the
/// commands is replaced, as everywhere in a case. Pseudonyms cannot be run: without names there are no such files.
fn keep_specs(
    case: &Case,
    folder: &str,
    experiment: &Experiment,
    trials: &[Trial],
    ground: &Ground,
) -> Result<(), StudyError> {
    let Some(extent) = experiment.extent.as_ref().filter(|_| ground.subject.names == Names::Kept) else {
        return Ok(());
    };
    let own = experiment.own(trials);
    let arms = own.iter().map(|trial| trial.arm.as_str()).collect::<BTreeSet<_>>();
    let file = |arm: &str| {
        let spec = TrialSpec {
            command: ground.subject.client.clone(),
            server: ground.subject.server.clone().unwrap_or_default(),
            case: Some(case.folder().to_path_buf()),
            metric: ground.wish.metric.clone(),
            world: ground.world.clone(),
            ..TrialSpec::of_arm(arm, extent)
        };
        (format!("{}.toml", experiment::file_name(arm)), spec.redacted().write())
    };
    Ok(case.keep_files(folder, &arms.into_iter().map(file).collect::<Vec<_>>())?)
}

/// The programs, to be run again; or why they cannot be.
fn subject(recording: &Recording, ground: &Ground) -> Result<Subject, String> {
    let input = match lab::input_again() {
        Some(input) => input,
        None if !reads_its_input(recording) => Input::Nothing,
        None => return Err("anything: the program read its input from a pipe, so it cannot be run again".to_string()),
    };
    Ok(Subject { input, ..ground.subject.clone() })
}

/// Whether the client got bytes from its standard input.
fn reads_its_input(recording: &Recording) -> bool {
    let is_client = |pid: u32| recording.processes.iter().any(|one| one.pid == pid && one.role == "client");
    // Read, readv, pread64: the calls that take bytes from a pipe.
    let takes = |call: &case::tables::Call| call.fd == 0 && call.result > 0 && case::syscall::is_read(call.number);
    recording.calls.iter().any(|call| takes(call) && call.connection == 0 && is_client(call.pid))
}

#[cfg(test)]
mod calibration;
