//! Runs a variant of a story: its run.sh with this very whyslow, the answer as JSON, the case kept.

use super::declaration::{Story, Variant};
use super::error::StoryError;
use super::trusted;
use crate::{Console, PAGE, Reach};
use case::Case;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The exit status with which a run.sh says that something it needs is missing.
const SKIPPED: i32 = 77;
/// How often to check whether it has ended.
const TICK: Duration = Duration::from_millis(20);

/// What came of running a variant once.
pub enum VariantRun {
    /// whyslow answered.
    Answered(Box<Answered>),
    /// Something that the story needs is missing.
    Skipped,
    /// There is no answer, and why.
    Failed(String),
}

/// An answer.
pub struct Answered {
    /// What whyslow printed.
    pub document: Value,
    /// Its exit status.
    pub exit: i32,
    /// What was kept.
    pub case: PathBuf,
    /// How long it all took.
    pub seconds: f64,
}

impl Answered {
    /// The sentence with which whyslow sums up.
    pub fn summary(&self) -> &str {
        self.document["summary"].as_str().unwrap_or_default()
    }

    /// The case's page, where there is one.
    pub fn page(&self) -> Option<PathBuf> {
        Some(self.case.join(PAGE)).filter(|page| page.is_file())
    }
}

/// A variant that is running.
pub struct Started<'a> {
    story: &'a Story,
    variant: &'a Variant,
    case: PathBuf,
    own: PathBuf,
    answer: File,
    child: Child,
    begun: Instant,
}

/// Starts it. The case goes to `case`, which does not exist yet. Signals must not be blocked yet: what is started would
/// inherit that, and could not end its programs.
///
/// # Errors
/// Where it cannot be started, or others than root could have written it and we are root.
pub fn start<'a>(story: &'a Story, variant: &'a Variant, case: &Path) -> Result<Started<'a>, StoryError> {
    let begun = Instant::now();
    trusted::check(story)?;
    let answer = tempfile::tempfile().map_err(StoryError::Answer)?;
    let own = std::env::current_exe().map_err(StoryError::Internal)?;
    let (script, name) = story.script();
    let child = Command::new("bash")
        .arg(&script)
        .args(name)
        .args(variant.words())
        .args(["--json", "-o"])
        .arg(case)
        .env("WHYSLOW", &own)
        .stdin(Stdio::null())
        .stdout(answer.try_clone().map_err(StoryError::Answer)?)
        .spawn();
    let child = child.map_err(|error| StoryError::Story { file: script, why: error.to_string() })?;
    Ok(Started { story, variant, case: case.to_path_buf(), own, answer, child, begun })
}

impl Started<'_> {
    /// Waits until it is over.
    ///
    /// # Errors
    /// Where the user wants an end.
    pub fn finish(mut self, console: &dyn Console) -> Result<VariantRun, StoryError> {
        let status = wait(&mut self.child, &self.own, console)?;
        if console.has_come() {
            return Err(StoryError::Interrupted(self.story.name.clone()));
        }
        let mut text = String::new();
        let read = self.answer.rewind().and_then(|()| self.answer.read_to_string(&mut text));
        read.map_err(StoryError::Answer)?;
        let exit = status.code().unwrap_or(-1);
        if exit == SKIPPED {
            return Ok(VariantRun::Skipped);
        }
        let seconds = self.begun.elapsed().as_secs_f64();
        let answered = |document| Answered { document, exit, case: self.case.clone(), seconds };
        Ok(match serde_json::from_str(&text) {
            // What keeps no case (a series over time) was not recorded either.
            Ok(Value::Object(document)) if !document.contains_key("case") => {
                VariantRun::Answered(Box::new(answered(Value::Object(document))))
            }
            Ok(document) => match other_than_declared(self.story, self.variant, &self.case) {
                None => VariantRun::Answered(Box::new(answered(document))),
                Some(why) => VariantRun::Failed(why),
            },
            Err(_) => VariantRun::Failed(format!("run.sh exited with status {exit} and printed no answer")),
        })
    }
}

/// Waits for the end. A terminal's Ctrl-C reaches its whole foreground group; a signal sent to us alone is passed on.
fn wait(child: &mut Child, own: &Path, console: &dyn Console) -> Result<ExitStatus, StoryError> {
    loop {
        if let Some(status) = child.try_wait().map_err(StoryError::Internal)? {
            return Ok(status);
        }
        let Some(interrupt) = console.next(TICK).filter(|interrupt| interrupt.reach == Reach::Us) else { continue };
        let is_whyslow = |pid: &u32| std::fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|path| path == own);
        let inner = record::descendants(child.id()).into_iter().filter(is_whyslow);
        for pid in [child.id()].into_iter().chain(inner) {
            // One that has ended meanwhile needs no signal.
            let _ = kill(Pid::from_raw(pid as i32), Signal::try_from(interrupt.signal).unwrap_or(Signal::SIGTERM));
        }
    }
}

/// How the programs and the link that were recorded differ from those declared.
fn other_than_declared(story: &Story, variant: &Variant, case: &Path) -> Option<String> {
    let case = match Case::open(case) {
        Ok(case) => case,
        Err(error) => return Some(format!("it wrote no case: {error}")),
    };
    let manifest = case.manifest();
    let client = variant.client.as_ref().unwrap_or(&story.subject.client);
    let server = variant.server.as_ref().unwrap_or(&story.subject.server);
    let link = variant.link.as_ref().unwrap_or(&story.world.link);
    let is_in = |words: &[String], name: &str| {
        name.is_empty() || words.iter().any(|word| word.rsplit('/').next().is_some_and(|last| last == name))
    };
    let differs = |what: &str, declared: &str, recorded: &str| {
        Some(format!("story.toml declares the {what} as `{declared}`, but `{recorded}` was recorded"))
    };
    if !is_in(&manifest.command, client) {
        return differs("client", client, &manifest.command.join(" "));
    }
    if !is_in(&manifest.server, server) {
        return differs("server", server, &manifest.server.join(" "));
    }
    if manifest.link == *link { None } else { differs("link", link, &manifest.link) }
}
