//! Proving what a run suspects: the lab is given the programs, the findings and a budget, and its verdicts go into the
//! answer.

use crate::run::Request;
use crate::second_pass::{self, SecondPasses};
use crate::{Activity, Console, StudyError};
use case::tables::Trial;
use case::{Answer, Case, CaseError, Manifest, Recording, Stopped};
use lab::{Arm, Arms, Asked, Experiment, Extent, Journal, Laboratory, SecondPass, Setting, Subject, Terms, TrialSpec};
use record::Input;
use std::collections::BTreeSet;
use std::time::Duration;

/// What a run is told about proving.
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

/// The longest name of a file that is made of an arm's; a file system takes 255 bytes, endings included.
const MOST_NAME_BYTES: usize = 200;

/// An experiment that is over.
pub struct Tried {
    /// What was tried, and what for.
    pub experiment: Experiment,
    /// Its trials.
    pub trials: Vec<Trial>,
    /// Its arms.
    pub arms: Vec<Arm>,
}

/// Tries what the findings call for and what shows once that is cured, keeps the trials in the case, and puts the
/// verdicts into the answer.
///
/// # Errors
/// Where the programs cannot be started again, or the case cannot be written.
pub fn prove(
    answer: &mut Answer,
    case: &Case,
    recording: Recording,
    request: &Request,
    console: &dyn Console,
) -> Result<(), StudyError> {
    if answer.findings.is_empty() || !request.proof.is_wanted {
        return Ok(());
    }
    let (arms, subject) = match arms(answer, &recording, request) {
        Ok(found) => found,
        Err(why) => {
            let experiment = Experiment { not_tried: vec![why], ..Experiment::default() };
            lab::judge(answer, &experiment, &[]);
            return Ok(case.keep(lab::EXPERIMENT_FILE, &experiment)?);
        }
    };
    let (manifest, cpu) = (recording.manifest.clone(), second_pass::processor_ns(&recording));
    drop(recording);
    let mut first = experiment(answer, arms, &subject, request, &manifest, console)?;
    first.experiment.follow(&[], &mut first.trials);
    keep_specs(case, "trials", &first.experiment, &first.trials, request)?;
    case.keep(lab::EXPERIMENT_FILE, &first.experiment)?;
    let trials = first.trials.clone();
    lab::judge(answer, &first.experiment, &trials);
    let passes = second_pass::second_pass(answer, first, &subject, cpu, (request, case), console);
    // What the first experiment says stands, whatever becomes of those that follow.
    let (passes, failed) = match passes {
        Ok(passes) => (passes, None),
        Err(failure) => (SecondPasses { all: Vec::new(), trials }, Some(failure)),
    };
    for (second_pass, number) in passes.all.iter().zip(1..) {
        keep_specs(case, &format!("trials-{}", number + 1), &second_pass.experiment, &passes.trials, request)?;
        case.keep(&SecondPass::file(number), second_pass)?;
        second_pass.judge(answer, &passes.trials);
    }
    if !passes.trials.is_empty() {
        case.add(passes.trials)?;
    }
    failed.map_or(Ok(()), Err)
}

/// Puts what was kept of earlier experiments into an answer that was drawn again.
///
/// # Errors
/// Where what was kept is damaged.
pub fn judge_again(answer: &mut Answer, case: &Case, trials: &[Trial]) -> Result<(), StudyError> {
    let Some(experiment) = case.kept::<Experiment>(lab::EXPERIMENT_FILE)? else { return Ok(()) };
    lab::judge(answer, &experiment, trials);
    for number in 1.. {
        let Some(second_pass) = case.kept::<SecondPass>(&SecondPass::file(number))? else { break };
        second_pass.judge(answer, trials);
    }
    Ok(())
}

/// Keeps a file for each arm from which `whyslow trial` runs it again, here or elsewhere. What could be a secret in the
/// commands is replaced, as everywhere in a case.
fn keep_specs(
    case: &Case,
    folder: &str,
    experiment: &Experiment,
    trials: &[Trial],
    request: &Request,
) -> Result<(), StudyError> {
    let Some(extent) = &experiment.extent else { return Ok(()) };
    let folder = case.folder().join(folder);
    let failed = |error: std::io::Error| StudyError::from(CaseError::io(&folder)(error));
    std::fs::create_dir(&folder).map_err(failed)?;
    for arm in experiment.own(trials).iter().map(|trial| trial.arm.as_str()).collect::<BTreeSet<_>>() {
        let spec = TrialSpec {
            command: request.subject.client.clone(),
            server: request.subject.server.clone().unwrap_or_default(),
            case: Some(case.folder().to_path_buf()),
            metric: request.proof.metric.clone(),
            world: request.world.clone(),
            ..TrialSpec::of_arm(arm, extent)
        };
        std::fs::write(folder.join(format!("{}.toml", file_name(arm))), spec.redacted().write()).map_err(failed)?;
    }
    Ok(())
}

/// An arm's name, as far as it fits into a file's.
pub fn file_name(arm: &str) -> String {
    arm.chars().take(MOST_NAME_BYTES).collect()
}

/// What is to be tried, and the programs to try it with; or why nothing can be.
fn arms(answer: &Answer, recording: &Recording, request: &Request) -> Result<(Arms, Subject), String> {
    let input = match lab::input_again() {
        Some(input) => input,
        None if !reads_its_input(recording) => Input::Nothing,
        None => return Err("anything: the program read from a pipe, whose content is gone".to_string()),
    };
    let setting = Setting {
        answer,
        recording,
        world: &request.world,
        has_server: request.subject.server.is_some(),
        metric: request.proof.metric.as_ref(),
        asked: &request.proof.asked,
        compares_output: request.proof.compares_output,
        upon: None,
    };
    let subject = Subject { input, ..request.subject.clone() };
    Ok((Arms::of(&setting), subject))
}

/// Whether the client got bytes from its standard input.
fn reads_its_input(recording: &Recording) -> bool {
    let is_client = |pid: u32| recording.processes.iter().any(|one| one.pid == pid && one.role == "client");
    // Read, readv, pread64: the calls that take bytes from a pipe.
    let takes = |call: &case::tables::Call| call.fd == 0 && call.result > 0 && case::syscall::is_read(call.number);
    recording.calls.iter().any(|call| takes(call) && call.connection == 0 && is_client(call.pid))
}

/// Runs the trials of an experiment.
pub fn experiment(
    answer: &Answer,
    arms: Arms,
    subject: &Subject,
    request: &Request,
    manifest: &Manifest,
    console: &dyn Console,
) -> Result<Tried, StudyError> {
    let all = arms.alone.clone();
    if all.is_empty() {
        return Ok(Tried { experiment: arms.experiment, trials: Vec::new(), arms: all });
    }
    if !arms.experiment.attempts.is_empty() {
        let most = request.proof.budget.as_secs_f64();
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
    let mut laboratory = Laboratory::open(&journal, request.proof.metric.as_ref(), &mut wait)?;
    let terms = Terms {
        budget: request.proof.budget,
        // The order of arms is drawn anew for each run, and again the same where a case is looked at.
        seed: manifest.started_unix_seconds,
        compares_output: request.proof.compares_output,
        say: &say,
    };
    let mut execute = |arm: &lab::Arm, extent: &Extent| laboratory.run(subject, &request.world, &arm.treatment, extent);
    let proved = lab::prove(arms, answer, &mut execute, &terms);
    drop(activity);
    let (experiment, trials) = proved?;
    if experiment.stopped == Some(Stopped::Interrupted) {
        console.note("the proof was cut short; the answer uses the trials so far");
    }
    Ok(Tried { experiment, trials, arms: all })
}
