//! From programs to a closed case: set on their launch, recorded while they run, ended.

use crate::diagnosis::{self, Diagnosis};
use crate::manifest::manifest;
use crate::watch::{how, watch};
use crate::{Activity, Console, Limits, StudyError};
use case::{Answer, Case, Manifest, Recording};
use lab::intervention_counters::InterventionCounters;
use lab::{Attached, Journal, Kind, Launch, Outputs, Repair, Server, Stopped, Subject, Treatment, World};
use record::{Ended, Held, Output, Recorder, Role, Running};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What a client that is asked to end gets for it before we leave it to itself.
const LONGEST_END: Duration = Duration::from_secs(2);

/// What is to be recorded.
pub struct Take<'a> {
    /// The programs.
    pub subject: &'a Subject,
    /// Where they run.
    pub world: &'a World,
    /// What is attached to them.
    pub treatment: Treatment,
    /// Where their words go.
    pub outputs: Outputs,
    /// What is recorded, for the progress line.
    pub doing: &'a str,
    /// Whose client it is.
    pub kind: Kind,
    /// When to stop recording before the client ends.
    pub limits: Limits,
    /// The case's folder, which is not there yet.
    pub folder: &'a Path,
    /// The head of the case, as far as the recorder cannot know it.
    pub manifest: Manifest,
    /// What to record.
    pub options: &'a record::Options,
}

/// What was recorded.
pub struct Taken {
    /// The closed case.
    pub case: Case,
    /// How the client ended; none where it still runs.
    pub ended: Option<Ended>,
    /// What the treatment left behind.
    pub counters: InterventionCounters,
}

/// A run that was recorded for its own sake: nobody sees what it writes.
pub struct Quiet {
    /// The case's folder.
    pub folder: PathBuf,
    /// What was recorded.
    pub recording: Recording,
    /// What that suspects.
    pub answer: Answer,
    /// The last line of the client's standard error.
    pub said: String,
    /// What the treatment left behind.
    pub counters: InterventionCounters,
}

/// Records a run whose words are nobody's, to its end or to `longest`; `doing` is what is said meanwhile.
pub fn record_quietly(
    doing: &str,
    subject: &Subject,
    world: &World,
    treatment: &Treatment,
    folder: &Path,
    longest: Duration,
    console: &dyn Console,
) -> Result<Quiet, StudyError> {
    let nowhere = || Output::File(PathBuf::from("/dev/null"));
    let errors = tempfile::NamedTempFile::new().map_err(StudyError::Temporary)?;
    let client_errors = Output::File(errors.path().to_path_buf());
    let outputs = Outputs { client: nowhere(), client_errors, server: nowhere(), server_errors: nowhere() };
    let take = Take {
        subject,
        world,
        treatment: treatment.clone(),
        outputs,
        doing,
        kind: Kind::Trial,
        limits: Limits { duration: Some(longest), requests: None },
        folder,
        manifest: manifest(subject, world),
        options: &record::Options::default(),
    };
    let Taken { case, counters, .. } = record(take, console)?;
    if console.has_come() {
        return Err(StudyError::GivenUp { case: folder.to_path_buf() });
    }
    let recording = diagnosis::load_with_names(&case, console)?;
    let Diagnosis { answer, .. } = Diagnosis::of(&recording, case.folder(), diagnose::Options::default(), console);
    let said = std::fs::read(errors.path()).unwrap_or_default();
    let said =
        String::from_utf8_lossy(&said).lines().rev().map(str::trim).find(|line| !line.is_empty()).map(String::from);
    Ok(Quiet { folder: folder.to_path_buf(), recording, answer, said: said.unwrap_or_default(), counters })
}

/// From nothing to a closed case.
pub fn record(take: Take, console: &dyn Console) -> Result<Taken, StudyError> {
    // What a run that was killed has left behind is in nobody's way; that it cannot be removed is no reason not to run.
    let repaired = lab::repair(Repair::Left).unwrap_or_default();
    // Without a journal nothing is made that would need one.
    let journal = Journal::open().unwrap_or_else(Journal::closed);
    let Take { subject, world, folder, .. } = take;
    let mut activity = Activity::of(console, "setting up");
    let launch = Launch::set(subject, world, &take.treatment, &journal, &take.outputs, take.kind)?;
    let recorder = Recorder::start(folder, take.manifest, take.options)?;
    if subject.server.is_some() {
        activity.turn_to("waiting for the server to listen");
    }
    let (mut client, mut server, attached) = begin(launch, subject, &recorder, console).inspect_err(|_| {
        // The client has not run: the case that was just made holds nothing, and would only be in the way.
        let _ = case::as_caller(|| std::fs::remove_dir_all(folder));
    })?;
    let left = repaired.left.iter().map(|line| format!("{line}; `whyslow undo` ends it"));
    repaired.done.iter().cloned().chain(left).for_each(|line| console.note(&line));
    attached.notes().iter().for_each(|note| console.note(note));
    activity.turn_to(take.doing);
    let ended = watch(&mut client, &mut server, &recorder, (take.doing, take.limits), console, &mut activity)?;
    activity.turn_to("resolving symbols and writing the case");
    // Recording ends first, so that nothing of what ends the programs is in the case.
    let server_pid = server.as_ref().map_or(0, Server::pid);
    let counters = attached.counters();
    let case = recorder.finish(|manifest| complete(manifest, client.pid(), ended, server_pid));
    activity.turn_to("stopping the programs");
    let ended = match (ended, take.kind) {
        (None, Kind::Watched) => end_client(&mut client, console)?,
        // A trial's is ended with everything else of the trial.
        (ended, _) => ended,
    };
    if take.kind == Kind::Trial {
        // Before its server, so that it has nothing to complain of.
        drop(client);
    }
    if let Some(Stopped::Killed(after)) = server.map(Server::stop) {
        let command = as_typed(subject.server.as_deref().unwrap_or_default());
        console.note(&format!(
            "the server `{command}` did not exit within {} s of SIGTERM and was killed",
            after.as_secs()
        ));
    }
    drop(attached);
    drop(activity);
    if let Some(signalled) = ended.filter(|ended| ended.signal.is_some()) {
        console.note(&format!("`{}` {}", as_typed(&subject.client), how(signalled)));
    }
    Ok(Taken { case: case?, ended, counters })
}

/// Lets the server run until it listens, then the client, each followed from its first instruction.
fn begin(
    launch: Launch,
    subject: &Subject,
    recorder: &Recorder,
    console: &dyn Console,
) -> Result<(Running, Option<Server>, Attached), StudyError> {
    let Launch { client, server, attached } = launch;
    let mut wait = |longest| console.next(longest).is_some();
    let start = |held: Held| {
        recorder.follow(held.pid(), Role::Server)?;
        Ok::<_, StudyError>(Server::start(held, subject, attached.besides(client.pid()), &mut wait)?)
    };
    let server = server.map(start).transpose()?;
    recorder.follow(client.pid(), Role::Client)?;
    Ok((client.release()?, server, attached))
}

/// A command as it can be typed.
pub fn as_typed(words: &[String]) -> String {
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
}

fn complete(manifest: &mut Manifest, client: u32, ended: Option<Ended>, server: u32) {
    let ended = ended.unwrap_or_default();
    manifest.subject = case::Subject { pid: client, exit: ended.exit, signal: ended.signal };
    manifest.server_pid = server;
}

/// Recording ended before the client did. We started it, so it is asked to end; it is not made to.
fn end_client(client: &mut Running, console: &dyn Console) -> Result<Option<Ended>, StudyError> {
    if let Some(ended) = client.poll()? {
        return Ok(Some(ended));
    }
    console.note("recording is over; sending the program SIGTERM");
    client.signal(nix::libc::SIGTERM);
    let deadline = Instant::now() + LONGEST_END;
    while Instant::now() < deadline {
        if let Some(ended) = client.poll()? {
            return Ok(Some(ended));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    console.note(&format!("it is still running (PID {}); whyslow leaves it alone", client.pid()));
    Ok(None)
}
