//! Proving what a run suspects: the lab is given the programs, the findings and a budget, and its verdicts go into the
//! answer.

use crate::fail::Failure;
use crate::interrupts::Interrupts;
use crate::output;
use crate::plan::Plan;
use crate::progress::Progress;
use case::tables::role;
use case::{Answer, Case, Manifest, Recording};
use lab::{Arms, Experiment, Extent, Journal, Laboratory, Setting, Subject, Terms};
use record::Input;
use std::time::Duration;

/// What a run is told about proving.
#[derive(Clone, Debug)]
pub struct Wish {
    /// Whether to prove at all.
    pub is_wanted: bool,
    /// Time for all trials.
    pub budget: Duration,
    /// Whether what the program writes is compared.
    pub compares_output: bool,
    /// What to judge by, where the user said so.
    pub metric: Option<lab::Metric>,
}

/// Tries what the findings call for, keeps the trials in the case, and puts the verdicts into the answer.
///
/// # Errors
/// Where the programs cannot be started again, or the case cannot be written.
pub fn prove(
    answer: &mut Answer,
    case: &Case,
    recording: Recording,
    plan: &Plan,
    interrupts: &Interrupts,
) -> Result<(), Failure> {
    if answer.findings.is_empty() || !plan.proof.is_wanted {
        return Ok(());
    }
    let (experiment, trials) = match arms(answer, &recording, plan) {
        Err(why) => (Experiment { not_tried: vec![why], ..Experiment::default() }, Vec::new()),
        Ok((arms, subject)) => {
            let manifest = recording.manifest.clone();
            drop(recording);
            experiment(answer, arms, &subject, plan, &manifest, interrupts)?
        }
    };
    lab::judge(answer, &experiment, &trials);
    if !trials.is_empty() {
        case.add(trials)?;
    }
    case.keep(lab::EXPERIMENT_FILE, &experiment)?;
    Ok(())
}

/// What is to be tried, and the programs to try it with; or why nothing can be.
fn arms(answer: &Answer, recording: &Recording, plan: &Plan) -> Result<(Arms, Subject), String> {
    let input = match lab::input_again() {
        Some(input) => input,
        None if !reads_its_input(recording) => Input::Nothing,
        None => return Err("anything: the program read from a pipe, and what was in it is gone".to_string()),
    };
    let setting = Setting {
        answer,
        recording,
        world: &plan.world,
        has_server: plan.server.is_some(),
        metric: plan.proof.metric.as_ref(),
    };
    let subject = Subject { client: plan.client.clone(), server: plan.server.clone(), user: plan.user, input };
    Ok((Arms::of(&setting), subject))
}

/// Whether the client got bytes from its standard input.
fn reads_its_input(recording: &Recording) -> bool {
    let client = |pid: u32| recording.processes.iter().any(|process| process.pid == pid && process.role == "client");
    let is_read = |call: &&case::tables::Call| call.fd == 0 && call.connection == 0 && call.result > 0;
    // Read, readv, pread64: the calls that take bytes from a pipe.
    let takes = |call: &&case::tables::Call| matches!(call.number, 0 | 17 | 19);
    let of_sockets = |call: &case::tables::Call| {
        recording.connections.iter().any(|one| one.id == call.connection && one.role == role::CLIENT)
    };
    recording.calls.iter().filter(is_read).filter(takes).any(|call| client(call.pid) && !of_sockets(call))
}

fn experiment(
    answer: &Answer,
    arms: Arms,
    subject: &Subject,
    plan: &Plan,
    manifest: &Manifest,
    interrupts: &Interrupts,
) -> Result<(Experiment, Vec<case::tables::Trial>), Failure> {
    let progress = Progress::begin();
    let say = |line: &str| progress.say(line);
    let mut wait = |longest: Duration| interrupts.next(longest).is_some();
    let journal = Journal::open()?;
    let mut laboratory = Laboratory::open(subject, &plan.world, &journal, plan.proof.metric.as_ref(), &mut wait)?;
    let terms = Terms {
        budget: plan.proof.budget,
        // The order of arms is drawn anew for each run, and again the same where a case is looked at.
        seed: manifest.started_unix_seconds,
        compares_output: plan.proof.compares_output,
        say: &say,
    };
    let mut execute = |arm: &lab::Arm, extent: &Extent| laboratory.run(&arm.arrangement, extent);
    let proved = lab::prove(arms, answer, &mut execute, &terms);
    drop(progress);
    let (experiment, trials) = proved?;
    if experiment.not_tried.iter().any(|why| why.contains("Ctrl-C")) {
        output::say("proving was ended early; what the trials so far say stands in the answer");
    }
    Ok((experiment, trials))
}
