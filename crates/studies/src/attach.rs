//! `whyslow attach PID`: what ails a program that is running now. It is never stopped, restarted or left changed.

use crate::diagnosis::{self, Diagnosis};
use crate::manifest::manifest;
use crate::switched::Switched;
use crate::{Activity, Console, Document, Done, Limits, StudyError, views};
use case::{Answer, Case, Finding, Names, Status};
use lab::live::{self, Live, LiveTerms};
use lab::{Journal, Subject, World};
use record::{Recorder, Role};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Recorded for so long where nothing is said: some hundred requests of a program that is worth attaching to.
pub const DURATION: Duration = Duration::from_secs(5);
/// How often is looked whether something has happened: each time what /proc says of the process is read.
const TICK: Duration = Duration::from_millis(100);

/// What is to be done.
pub struct Request {
    /// The process.
    pub pid: u32,
    /// How it was started.
    pub command: Vec<String>,
    /// Whether names are kept in its case.
    pub names: Names,
    /// When to stop recording before it ends.
    pub limits: Limits,
    /// Time for switching on and off what reaches it; none where nothing is to be tried.
    pub budget: Option<Duration>,
    /// The case's folder, which is not there yet.
    pub folder: PathBuf,
    /// What to record.
    pub options: record::Options,
    /// How to read it.
    pub reading: diagnose::Options,
}

/// Watches, diagnoses, and tries what reaches a running program.
///
/// # Errors
/// Where nothing was recorded. What fails later is in [`Done::failed`].
pub fn attach(request: &Request, console: &dyn Console) -> Result<Done, StudyError> {
    let case = watch(request, console)?;
    let recording = diagnosis::load_with_names(&case, console)?;
    let Diagnosis { analysis, mut answer } = Diagnosis::of(&recording, case.folder(), request.reading, console);
    case.add(analysis.wait_rows())?;
    let proved = match request.budget.filter(|_| !console.has_come()) {
        Some(budget) => prove(&mut answer, &case, request.pid, budget, console),
        None => Ok(()),
    };
    if diagnosis::keeps_no_names(&case) {
        let done = Done::without_names(case, request.reading, console)?;
        return Ok(Done { failed: proved.err(), ..done });
    }
    let views = views::gathered(console, || Ok(views::of_answer(&answer, &analysis, &[])));
    Ok(Done { failed: proved.err(), ..Done::of(Document::Answer(Box::new(answer)), case, views) })
}

/// The process of this number.
///
/// # Errors
/// Where there is none.
pub fn running(pid: u32) -> Result<u32, StudyError> {
    if record::is_running(pid) { Ok(pid) } else { Err(StudyError::NoProcess(pid)) }
}

/// The process that listens on a port.
///
/// # Errors
/// Where there is none, or several.
pub fn listening_on(port: u16) -> Result<u32, StudyError> {
    match record::listeners_on(port)[..] {
        [] => Err(StudyError::NobodyListens(port)),
        [one] => Ok(one),
        ref several => Err(StudyError::SeveralListen { port, pids: several.to_vec() }),
    }
}

/// Records the program for a while.
fn watch(request: &Request, console: &dyn Console) -> Result<Case, StudyError> {
    let Request { pid, folder, limits, .. } = request;
    let pid = *pid;
    // What a killed run left behind is in nobody's way; failing to remove it is no reason not to run.
    let repaired = lab::repair(lab::Repair::Left).unwrap_or_default();
    repaired.done.iter().for_each(|line| console.note(line));
    let role = role_of(pid);
    let subject = Subject { client: request.command.clone(), names: request.names, ..Subject::default() };
    let recorder = Recorder::start(folder, manifest(&subject, &World::default()), &request.options)?;
    recorder.attach(pid, role).inspect_err(|_| {
        // Nothing was recorded: the new case would only be in the way.
        let _ = std::fs::remove_dir_all(folder);
    })?;
    if record::is_stopped(pid) {
        console.note(&format!(
            "process {pid} is stopped by a signal or a debugger; nothing can be recorded until it continues"
        ));
    }
    let begun = Instant::now();
    let mut activity = Activity::of(console, "recording");
    loop {
        let is_over = !record::is_running(pid) || recorder.has_failed();
        if is_over
            || limits.are_reached(begun.elapsed(), &recorder)
            || console.next(tick(begun.elapsed(), limits)).is_some()
        {
            break;
        }
        activity.recording("recording", &recorder, limits.duration);
    }
    activity.turn_to("resolving symbols and writing the case");
    let case = recorder.finish(|manifest| {
        manifest.subject.pid = pid;
        manifest.server_pid = if role == Role::Server { pid } else { 0 };
    });
    if !record::is_running(pid) {
        console.note(&format!("process {pid} exited while being watched"));
    }
    Ok(case?)
}

/// How long to wait before it is looked again whether recording is over.
fn tick(elapsed: Duration, limits: &Limits) -> Duration {
    limits.duration.map_or(TICK, |longest| TICK.min(longest.saturating_sub(elapsed)))
}

/// Who listens is a server.
fn role_of(pid: u32) -> Role {
    if record::listens(pid) { Role::Server } else { Role::Client }
}

/// How it was started; what could be a secret goes when it is written down.
pub fn command_line(pid: u32) -> Vec<String> {
    let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = words.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    words.map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// Switches on and off what reaches the running program, the top finding first.
fn prove(
    answer: &mut Answer,
    case: &Case,
    pid: u32,
    budget: Duration,
    console: &dyn Console,
) -> Result<(), StudyError> {
    let found = answer.findings.iter().filter(|finding| live::reaches(finding).is_some()).cloned().collect::<Vec<_>>();
    let mut all: Vec<Live> = Vec::new();
    let mut failed = None;
    let role = role_of(pid);
    let begun = Instant::now();
    for finding in &found {
        let left = budget.saturating_sub(begun.elapsed());
        if left.is_zero() || console.has_come() || !record::is_running(pid) {
            break;
        }
        let activity = Activity::of(console, "");
        let say = |line: &str| activity.say(line);
        let terms = LiveTerms { window: LiveTerms::WINDOW, budget: left, role, origin: None, say: &say };
        let mut wait = |longest: Duration| console.next(longest).is_some();
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
    let switched = Switched(all, others);
    switched.keep(case)?;
    switched.enter(answer);
    failed.map_or(Ok(()), |error| Err(error.into()))
}
