//! `watch`: what services use and serve over time, kept in a history; which of them gets out of line; and where that is wished, a
//! recording of the one that did.

mod alarms;
mod deviations;
mod document;
mod known;

pub use alarm::{Rules, RulesError};
pub use deviations::deviations;
pub use record::{Listening, Selected, all_listening};

use crate::attach::{self, command_line};
use crate::{Console, Done, Limits, StudyError};
pub(crate) use alarms::Alarming;
use case::{Deviation, HistoryWriter, Names, SCHEMA, ServiceSample, Watched, WatchedRecording, read_history};
use known::Known;
use record::{Looked, Services};
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Looked at so often where nothing is said.
pub const EVERY: Duration = Duration::from_secs(10);
/// Recorded for so long.
pub const RECORDED: Duration = Duration::from_secs(5);
/// Recorded at most so often: diagnosing takes a CPU for some seconds.
pub const BETWEEN_RECORDINGS: Duration = Duration::from_hours(1);
/// So many intervals of each service are compared with each other; an hour where they are 10 s.
const WINDOW: usize = 360;

/// What is to be done.
pub struct Request {
    /// The services.
    pub services: Vec<Selected>,
    /// How often they are looked at.
    pub every: Duration,
    /// The history's folder.
    pub history: PathBuf,
    /// Whether system calls are counted.
    pub counts_calls: bool,
    /// Whether the one that gets out of line is recorded.
    pub records: bool,
    /// When to end; none for not by itself.
    pub duration: Option<Duration>,
    /// Whether to end when something was recorded.
    pub until_recorded: bool,
    /// A sentence about a deviation, for alarms.
    pub describe: fn(&Deviation) -> String,
}

/// Whoever started watching: told of what happens while it goes on.
pub trait Watcher {
    /// A service has got out of line.
    fn deviates(&mut self, deviation: &Deviation);

    /// The folder for the case of a recording.
    fn case_folder(&mut self, command: &[String]) -> Option<PathBuf>;

    /// Keeps what a recording found, with its page: the answer, with its sentence.
    fn keep(&mut self, done: Done) -> case::Document;
}

/// Watches until it is to end.
///
/// # Errors
/// Where nothing can be watched, or the history cannot be written at the beginning.
pub fn watch(
    request: &Request,
    rules: Option<Rules>,
    console: &dyn Console,
    watcher: &mut dyn Watcher,
) -> Result<Watched, StudyError> {
    let mut history = HistoryWriter::open(&request.history)?;
    let mut services = Services::watch(request.services.clone(), request.counts_calls)?;
    services.missing().iter().for_each(|missing| console.note(&format!("not watched: {missing}")));
    let mut alarms = rules.map(|rules| Alarming::of(rules, request.describe));
    let mut state = State::default();
    let begun = Instant::now();
    let mut next = begun + request.every;
    loop {
        let is_over = request.duration.is_some_and(|longest| begun.elapsed() >= longest);
        if is_over || console.has_come() || (request.until_recorded && !state.recordings.is_empty()) {
            break;
        }
        let end = request.duration.map(|longest| begun + longest);
        let until = end.map_or(next, |end| end.min(next));
        if console.next(until.saturating_duration_since(Instant::now())).is_some() {
            break;
        }
        if Instant::now() < next {
            continue;
        }
        // After a recording, or where the machine slept, the intervals that were missed are one long one.
        next += request.every;
        if next < Instant::now() {
            next = Instant::now() + request.every;
        }
        let (looked, samples) = state.look(&mut services, &mut history, console);
        let fresh = state.find(watcher);
        let current = state.known.current();
        if request.records
            && let Some(deviation) = fresh.iter().find(|deviation| is_worse(deviation))
            && state.may_record()
            && let Some(main) = main_of(&looked, &deviation.service)
        {
            state.record(&deviation.service, main, console, watcher);
        }
        if let Some(alarms) = &mut alarms {
            alarms.take(&samples, &current, &state.found(), console);
        }
    }
    // What came since the last interval.
    state.look(&mut services, &mut history, console);
    if let Some(alarms) = alarms {
        alarms.finish(console);
    }
    let missing = services.missing().to_vec();
    drop(history);
    Ok(state.document(request, missing))
}

/// What a history says of a span of time that ends now.
///
/// # Errors
/// Where it cannot be read.
pub fn show(history: &std::path::Path, since: Duration) -> Result<Watched, StudyError> {
    let to_ms = now_ms();
    let from_ms = to_ms.saturating_sub(since.as_millis() as u64);
    let length_ms = document::length_of(since);
    let mut samples = read_history(history, from_ms, to_ms, length_ms)?;
    // A history that is younger than the span can be told more finely.
    let finer_ms = document::length_of(document::spanned(&samples));
    if finer_ms < length_ms {
        samples = read_history(history, from_ms, to_ms, finer_ms)?;
    }
    let by_service = document::by_service(samples);
    let deviations = deviations(&by_service);
    Ok(Watched { history: history.display().to_string(), deviations, ..document::of(&by_service) })
}

/// What is known while it goes on.
#[derive(Default)]
struct State {
    windows: BTreeMap<String, VecDeque<ServiceSample>>,
    /// Whether the last interval could not be written.
    is_unwritten: bool,
    known: Known,
    recordings: Vec<WatchedRecording>,
    findings: Vec<case::Finding>,
    recorded: Option<Instant>,
    /// What was found since alarms were last asked: the service, and the causes.
    fresh: Vec<(String, Vec<String>)>,
}

impl State {
    /// Looks at all services, and appends what they did to the history. A disk that refuses is said once.
    fn look(
        &mut self,
        services: &mut Services,
        history: &mut HistoryWriter,
        console: &dyn Console,
    ) -> (Vec<Looked>, Vec<ServiceSample>) {
        let looked = services.look();
        let samples = stamped(&looked);
        let written = history.append(&samples);
        if let (Err(error), false) = (&written, self.is_unwritten) {
            console.note(&format!("the history is not written: {error}"));
        }
        self.is_unwritten = written.is_err();
        self.take(&samples);
        (looked, samples)
    }

    fn take(&mut self, samples: &[ServiceSample]) {
        for sample in samples {
            let window = self.windows.entry(sample.service.clone()).or_default();
            if window.len() == WINDOW {
                window.pop_front();
            }
            window.push_back(sample.clone());
        }
    }

    /// What is new out of line.
    fn find(&mut self, watcher: &mut dyn Watcher) -> Vec<Deviation> {
        let windows = self.windows.iter_mut().map(|(name, window)| (name.clone(), &*window.make_contiguous()));
        let found = deviations(&windows.collect());
        let fresh = self.known.take(found);
        for deviation in &fresh {
            watcher.deviates(deviation);
        }
        fresh
    }

    /// What recordings have found since this was last asked.
    fn found(&mut self) -> Vec<(String, Vec<String>)> {
        std::mem::take(&mut self.fresh)
    }

    fn may_record(&self) -> bool {
        self.recorded.is_none_or(|last| last.elapsed() >= BETWEEN_RECORDINGS)
    }

    /// Records a service, and diagnoses it. What fails is said, and watching goes on.
    fn record(&mut self, service: &str, main: u32, console: &dyn Console, watcher: &mut dyn Watcher) {
        let command = command_line(main);
        let Some(folder) = watcher.case_folder(&command) else { return };
        self.recorded = Some(Instant::now());
        let at_ms = now_ms();
        let request = attach::Request {
            pid: main,
            command,
            names: Names::Kept,
            limits: Limits { duration: Some(RECORDED), requests: None },
            // Nothing is changed in a program that is only watched.
            budget: None,
            folder: folder.clone(),
            options: record::Options::default(),
            reading: diagnose::Options::default(),
        };
        match attach::attach(&request, console) {
            Ok(done) => {
                let document = watcher.keep(done);
                let case::Document::Answer(answer) = document else { return };
                self.recordings.push(WatchedRecording {
                    service: service.to_string(),
                    at_ms,
                    case: folder.display().to_string(),
                    summary: answer.summary.clone(),
                });
                let names = answer.findings.iter().map(|finding| finding.name.clone()).collect();
                self.fresh.push((service.to_string(), names));
                self.findings = answer.findings;
            }
            Err(error) => console.note(&format!("{service} was not recorded: {error}")),
        }
    }

    fn document(mut self, request: &Request, missing: Vec<String>) -> Watched {
        let windows = self.windows.iter_mut().map(|(name, window)| (name.clone(), &*window.make_contiguous()));
        let document = document::of(&windows.collect());
        Watched {
            schema: SCHEMA,
            history: request.history.display().to_string(),
            deviations: self.known.all(),
            case: self.recordings.last().map(|last| last.case.clone()).unwrap_or_default(),
            recordings: self.recordings,
            findings: self.findings,
            missing,
            ..document
        }
    }
}

/// Whether it is worth a recording: less is a change as well, and no trouble.
fn is_worse(deviation: &Deviation) -> bool {
    deviation.after > deviation.before
}

fn main_of(looked: &[Looked], service: &str) -> Option<u32> {
    looked.iter().find(|one| one.sample.service == service)?.main
}

/// The samples with the time of day at which their interval ended.
fn stamped(looked: &[Looked]) -> Vec<ServiceSample> {
    let at_ms = now_ms();
    looked.iter().map(|one| ServiceSample { at_ms, ..one.sample.clone() }).collect()
}

pub(crate) fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

#[cfg(test)]
mod tests;
