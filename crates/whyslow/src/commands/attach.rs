//! `whyslow attach PID`: what ails a program that is running now. It is never stopped, restarted or left changed.

use super::answer;
use crate::arguments::AttachArguments;
use crate::fail::Failure;
use crate::interrupts::Interrupts;
use crate::invoker::Invoker;
use crate::plan::Limits;
use crate::progress::Progress;
use crate::recording::LOOKING;
use crate::{folder, output, page, typed};
use case::{Answer, Case, Finding, Recording, Status};
use lab::engine::Kind;
use lab::live::{self, Live, LiveTerms};
use lab::{Journal, Subject, World};
use record::{Recorder, Role};
use std::path::Path;
use std::time::{Duration, Instant};

/// Recorded for so long where nothing is said: some hundred requests of a program that is worth attaching to.
const DURATION: Duration = Duration::from_secs(5);
/// How often is looked whether something has happened.
const TICK: Duration = Duration::from_millis(20);
/// What was switched, as the case keeps it.
pub const FILE: &str = "live.json";

/// Watches, diagnoses, switches, answers.
pub fn attach(arguments: &AttachArguments) -> Result<u8, Failure> {
    let invoker = Invoker::find();
    let pid = target(arguments)?;
    let limits = Limits {
        duration: Some(typed::duration(arguments.duration.as_deref())?.unwrap_or(DURATION)),
        requests: arguments.requests,
    };
    let budget = typed::budget(arguments.budget.as_deref(), Kind::Attach)?;
    let command = command_line(pid);
    let folder = typed::case_folder(arguments.folder.as_deref(), &command, &invoker)?;
    folder::make_parents(&folder, &invoker)?;
    let interrupts = Interrupts::take()?;
    let recorded = watch(pid, &command, &folder, limits, arguments, &interrupts);
    invoker.own(&folder);
    let case = recorded?;
    let progress = Progress::of(LOOKING);
    let recording = Recording::load(&case)?;
    let mut answer = answer::draw(&recording, &case, arguments.answer);
    drop(progress);
    let proved = if arguments.no_prove || interrupts.has_come() {
        Ok(())
    } else {
        prove(&mut answer, &case, (pid, role_of(pid)), budget, &interrupts)
    };
    answer.page = page::keep(&case, || Ok(page::of_answer(&answer, &recording)));
    drop(interrupts);
    let kept = case.keep("answer.json", &answer);
    invoker.own(&folder);
    let code = answer::show(&answer, arguments.answer)?;
    proved?;
    kept?;
    Ok(code)
}

/// What was switched, and what could not be.
pub type Kept = (Vec<Live>, Vec<String>);

/// Puts what was switched into the answer.
pub fn enter(answer: &mut Answer, kept: Kept) {
    let (switched, others) = kept;
    for live in switched {
        live.enter(answer);
    }
    answer.missing.extend(others);
}

/// The process that is meant.
fn target(arguments: &AttachArguments) -> Result<u32, Failure> {
    let Some(port) = arguments.port else {
        let pid = arguments.pid.unwrap_or_default();
        return if record::is_running(pid) { Ok(pid) } else { Err(Failure::no_process(pid)) };
    };
    match record::listeners_on(port)[..] {
        [] => Err(Failure::nobody_listens(port)),
        [one] => Ok(one),
        ref several => Err(Failure::several_listen(port, several)),
    }
}

/// Records the program for a while.
fn watch(
    pid: u32,
    command: &[String],
    folder: &Path,
    limits: Limits,
    arguments: &AttachArguments,
    interrupts: &Interrupts,
) -> Result<Case, Failure> {
    // What a run that was killed has left behind is in nobody's way; that it cannot be removed is no reason not to run.
    let repaired = lab::repair(lab::Repair::Left).unwrap_or_default();
    repaired.done.iter().for_each(|line| output::say(line));
    let role = role_of(pid);
    let subject = Subject { client: command.to_vec(), ..Subject::default() };
    let options = record::Options { sampling_hertz: arguments.sampling_hertz, ..record::Options::default() };
    let recorder = Recorder::start(folder, typed::manifest(&subject, &World::default()), &options)?;
    recorder.attach(pid, role).inspect_err(|_| {
        // Nothing was recorded: the case that was just made would only be in the way.
        let _ = std::fs::remove_dir_all(folder);
    })?;
    if record::is_stopped(pid) {
        output::say(&format!(
            "process {pid} is stopped, by a signal or a debugger: it does nothing until it is let go on"
        ));
    }
    let begun = Instant::now();
    let mut progress = Progress::of("recording");
    loop {
        let is_over = !record::is_running(pid) || recorder.has_failed();
        if is_over || limits.are_reached(begun.elapsed(), &recorder) || interrupts.next(TICK).is_some() {
            break;
        }
        progress.show("recording", &recorder, limits.duration);
    }
    progress.turn_to("naming places in the code and writing the case");
    let case = recorder.finish(|manifest| {
        manifest.subject.pid = pid;
        manifest.server_pid = if role == Role::Server { pid } else { 0 };
    });
    if !record::is_running(pid) {
        output::say(&format!("process {pid} ended while it was watched"));
    }
    Ok(case?)
}

/// Who listens is a server.
fn role_of(pid: u32) -> Role {
    let listens = [pid].into_iter().chain(record::descendants(pid)).any(record::listens);
    if listens { Role::Server } else { Role::Client }
}

/// How it was started; what could be a secret goes when it is written down.
fn command_line(pid: u32) -> Vec<String> {
    let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = words.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    words.map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// Switches on and off what reaches the running program, the top finding first.
fn prove(
    answer: &mut Answer,
    case: &Case,
    (pid, role): (u32, Role),
    budget: Duration,
    interrupts: &Interrupts,
) -> Result<(), Failure> {
    let found = answer.findings.iter().filter(|finding| live::reaches(finding).is_some()).cloned().collect::<Vec<_>>();
    let mut all: Vec<Live> = Vec::new();
    let mut failed = None;
    let begun = Instant::now();
    for finding in &found {
        let left = budget.saturating_sub(begun.elapsed());
        if left.is_zero() || interrupts.has_come() || !record::is_running(pid) {
            break;
        }
        let progress = Progress::begin();
        let say = |line: &str| progress.say(line);
        let terms = LiveTerms { window: LiveTerms::WINDOW, budget: left, role, side: None, say: &say };
        let mut wait = |longest: Duration| interrupts.next(longest).is_some();
        match Journal::open().and_then(|journal| live::switch(finding, pid, &terms, &journal, &mut wait)) {
            Ok(live) => all.push(live),
            // What was found out before is kept.
            Err(error) => {
                failed = Some(error);
                break;
            }
        }
    }
    let is_proved = |finding: &&Finding| {
        all.iter().any(|live| live.switched.finding == finding.id && live.tried.status == Status::Confirmed)
    };
    let others = answer.findings.iter().filter(|finding| !is_proved(finding)).flat_map(live::not_reached).collect();
    let kept = (all, others);
    case.keep(FILE, &kept)?;
    enter(answer, kept);
    failed.map_or(Ok(()), |error| Err(error.into()))
}
