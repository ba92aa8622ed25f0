//! Both worlds as they are: recorded, and measured in turns.

use super::question::Asked;
use crate::error::ProgramThere;
use crate::recording::{self, Quiet};
use crate::{Activity, Console, StudyError};
use case::tables::Trial;
use case::{Compared, Contrast, Host, Recording};
use diagnose::LibraryBlame;
use lab::bisect::{Axis, UsualWork};
use lab::compare::{self, Terms, Which, compared, extent_of, metrics_of};
use lab::worlds::Ready;
use lab::{Arm, Extent, Laboratory, Metric, Subject, Treatment};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A profile of this many samples a side shows libraries of a few percent; shorter programs are recorded again for it.
const WANTED_SAMPLES: usize = 300;
/// The most recordings of a side, and the time for those after the first.
const MOST_RECORDINGS: usize = 4;
const RECORDING_TIME: Duration = Duration::from_secs(3);
/// A run is recorded for at most this long.
const LONGEST: Duration = Duration::from_secs(20);
/// The part of the budget that measuring the difference between the worlds may take.
const PART: u32 = 3;

/// The exit status of a shell that did not find a program, and of the loader where it did not find a library: a command
/// that ends with it in both worlds did nothing that could be measured.
const NOT_FOUND: i32 = 127;

/// Metrics, those that vary least from run to run on a shared machine first: CPU time before elapsed time, means before
/// quantiles.
const STEADIEST: [Metric; 8] = [
    Metric::CpuPerExchange,
    Metric::Cpu,
    Metric::WallPerExchange,
    Metric::ElapsedPerExchange,
    Metric::Wall,
    Metric::Median,
    Metric::Tail95,
    Metric::Tail99,
];
/// A metric that certainly shows so much of what the best one shows, on a logarithmic scale, shows nearly as much.
const NEARLY: f64 = 0.7;

/// What is known of the worlds as they are.
pub struct Baseline {
    /// Recordings of the good world and of the bad one.
    recorded: [Vec<Quiet>; 2],
    /// How far each trial goes.
    pub extent: Extent,
    /// Good (a) against bad (b), the metric that decides first.
    pub compared: Vec<Compared>,
    /// What decides.
    pub metric: Metric,
    /// Where good and bad lie; none where they do not differ.
    pub axis: Option<Axis>,
    /// The logarithm of how much faster the good world was, pair by pair.
    pub gains: Vec<f64>,
    /// What the program does, in either.
    pub work: UsualWork,
    /// Runs made.
    pub runs: u32,
    /// What the order of runs is drawn from.
    pub seed: u64,
}

/// The names of the sides in folders and sentences.
const SIDES: [&str; 2] = ["good", "bad"];

impl Baseline {
    /// Records the subject once in each world.
    pub fn record(asked: &Asked, folder: &Path, console: &dyn Console) -> Result<Baseline, StudyError> {
        let mut recorded = [Vec::new(), Vec::new()];
        for (side, own) in recorded.iter_mut().enumerate() {
            own.push(record(asked, side, 1, folder, console)?);
        }
        let answers = [&recorded[0][0].answer, &recorded[1][0].answer];
        let fails = answers.iter().position(|answer| answer.subject_exit.is_some_and(|status| status != 0));
        if let (Some(side), true) = (fails, answers[0].subject_exit != answers[1].subject_exit) {
            let status = answers[side].subject_exit.unwrap_or_default();
            return Err(StudyError::FailsInWorld {
                side: SIDES[side],
                name: world(asked, side).name.clone(),
                status,
                said: recorded[side][0].said.clone(),
                case: folder.to_path_buf(),
            });
        }
        if let Some(side) = answers.iter().position(|answer| answer.subject_exit == Some(NOT_FOUND)) {
            return Err(StudyError::NotInWorld {
                side: SIDES[side],
                name: world(asked, side).name.clone(),
                said: recorded[side][0].said.clone(),
                case: folder.to_path_buf(),
            });
        }
        let extent = extent_of(&answers, asked.terms.metric.as_ref(), asked.terms.budget / PART);
        let seed = recorded[0][0].recording.manifest.started_unix_seconds;
        let metric = asked.terms.metric.clone().unwrap_or(Metric::Wall);
        let (work, gains) = (UsualWork::default(), Vec::new());
        Ok(Baseline { recorded, extent, compared: Vec::new(), metric, axis: None, gains, work, runs: 0, seed })
    }

    /// Runs both in turns until they are known to differ, or known not to.
    pub fn measure(
        &mut self,
        asked: &Asked,
        laboratory: &mut Laboratory,
        folder: &Path,
        console: &dyn Console,
    ) -> Result<Vec<Trial>, StudyError> {
        let answers = [&self.recorded[0][0].answer, &self.recorded[1][0].answer];
        let metrics = metrics_of(&answers, &self.extent, asked.terms.metric.as_ref());
        let measured = compare(asked, &asked.terms.subject, &metrics, self.extent, self.seed, laboratory, console)?;
        if let Some(unlike) = &measured.unlike {
            return Err(StudyError::Unlike { unlike: unlike.clone(), case: folder.to_path_buf() });
        }
        if measured.ended_early() {
            return Err(StudyError::GivenUp { case: folder.to_path_buf() });
        }
        self.work = UsualWork::of(&measured);
        self.runs = measured.trials.len() as u32;
        self.compared = compared(&measured.trials, &metrics);
        self.decide(asked.terms.metric.as_ref());
        let decides = self.compared.first();
        if let Some(metric) = decides.and_then(|first| metrics.iter().find(|one| **one == first.metric)) {
            self.metric = metric.clone();
        }
        if decides.is_some_and(|first| first.outcome == Contrast::More) {
            self.axis = Axis::of(&measured.trials, &self.metric);
            self.gains = lab::bisect::gains_of(&measured.trials, &self.metric);
        }
        Ok(measured.trials)
    }

    /// Puts the metric that decides first: the one asked for; else of those that show nearly as much as the one that shows
    /// most, the steadiest.
    fn decide(&mut self, asked: Option<&Metric>) {
        if asked.is_some() {
            return;
        }
        let certain = |one: &Compared| if one.outcome == Contrast::More { one.low.ln() } else { 0.0 };
        let most = self.compared.iter().map(certain).fold(0.0, f64::max);
        let place = |metric: &Metric| STEADIEST.iter().position(|one| one == metric).unwrap_or(STEADIEST.len());
        self.compared.sort_by_key(|one| (certain(one) < most * NEARLY || certain(one) <= 0.0, place(&one.metric)));
        // Where nothing differs, what counts is what users mean by a command's time.
        if most <= 0.0 {
            self.compared.sort_by_key(|one| one.metric != Metric::Wall);
        }
    }

    /// Records both again, in turns, until there are enough samples or time is up.
    pub fn record_more(&mut self, asked: &Asked, folder: &Path, console: &dyn Console) -> Result<(), StudyError> {
        let begun = Instant::now();
        for number in 2..=MOST_RECORDINGS {
            let samples = |own: &Vec<Quiet>| own.iter().map(|one| one.recording.samples.len()).sum::<usize>();
            let is_enough = self.recorded.iter().any(|own| samples(own) >= WANTED_SAMPLES);
            let taken = begun.elapsed() / (number as u32 - 1);
            if is_enough || begun.elapsed() + taken > RECORDING_TIME || console.has_come() {
                break;
            }
            for (side, own) in self.recorded.iter_mut().enumerate() {
                match record(asked, side, number, folder, console) {
                    // What was measured counts, whoever does not wait for a better profile.
                    Err(_) if console.has_come() => return Ok(()),
                    recorded => own.push(recorded?),
                }
            }
        }
        Ok(())
    }

    /// The machine.
    pub fn host(&self) -> Host {
        self.recorded[0][0].recording.manifest.host.clone()
    }

    /// The recordings of the good world, or of the bad one.
    pub fn recordings(&self, side: Which) -> Vec<&Recording> {
        self.recorded[side as usize].iter().map(|one| &one.recording).collect()
    }

    /// The first recorded run of the bad world.
    pub fn bad_run(&self) -> &Quiet {
        &self.recorded[1][0]
    }

    /// The paths that the subject used in the good world and in the bad one.
    pub fn used(&self, asked: &Asked) -> [BTreeSet<PathBuf>; 2] {
        [Which::A, Which::B].map(|side| {
            let all = self.recordings(side).into_iter().flat_map(|one| lab::bisect::used(one, asked.terms.end));
            all.chain(started(asked, side as usize)).collect()
        })
    }

    /// The programs that ran in the bad world, at the end that is asked about.
    pub fn programs(&self, asked: &Asked) -> Vec<PathBuf> {
        let role = asked.terms.end.word();
        let own = self.recordings(Which::B).into_iter().flat_map(|one| &one.processes).filter(|one| one.role == role);
        own.map(|one| PathBuf::from(&one.executable)).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Which libraries the difference lies in.
    pub fn blame(&self) -> Vec<LibraryBlame> {
        diagnose::blame(&self.owned(Which::A), &self.owned(Which::B))
    }

    /// What differs between the recordings.
    pub fn contrast(&self) -> diagnose::Contrasts {
        diagnose::contrast(&self.owned(Which::A), &self.owned(Which::B))
    }

    fn owned(&self, side: Which) -> Vec<Recording> {
        self.recordings(side).into_iter().cloned().collect()
    }
}

/// The world of a side.
fn world(asked: &Asked, side: usize) -> &Ready {
    if side == 0 { &asked.good } else { &asked.bad }
}

/// What the subject is started by there.
fn started(asked: &Asked, side: usize) -> BTreeSet<PathBuf> {
    let terms = &asked.terms;
    let own = world(asked, side).world(&terms.world, terms.end, &[]);
    lab::bisect::started_by(terms.command(), &own, terms.end)
}

/// Records a side.
fn record(
    asked: &Asked,
    side: usize,
    number: usize,
    folder: &Path,
    console: &dyn Console,
) -> Result<Quiet, StudyError> {
    let ready = world(asked, side);
    let quiet = recording::record_quietly(
        &format!("recording the {} world", SIDES[side]),
        &asked.terms.subject,
        &ready.world(&asked.terms.world, asked.terms.end, &[]),
        &Treatment::default(),
        &folder.join(format!("{}-{number}", SIDES[side])),
        LONGEST.max(asked.terms.budget / PART),
        console,
    );
    quiet.map_err(|error| {
        let program = if started(asked, side).is_empty() { ProgramThere::Missing } else { ProgramThere::Yes };
        StudyError::InWorld { side: SIDES[side], name: ready.name.clone(), program, source: Box::new(error) }
    })
}

/// Runs a subject in both worlds in turns.
pub fn compare(
    asked: &Asked,
    subject: &Subject,
    metrics: &[Metric],
    extent: Extent,
    seed: u64,
    laboratory: &mut Laboratory,
    console: &dyn Console,
) -> Result<compare::Measured, StudyError> {
    let activity = Activity::of(console, "comparing the worlds");
    let say = |line: &str| activity.say(line);
    let plain = |name: &str| Arm { name: name.to_string(), treatment: Treatment::default(), parts: Vec::new() };
    let sides = [(Which::A, plain("A")), (Which::B, plain("B"))];
    let terms = Terms {
        sides: &sides,
        extent,
        metrics,
        conditions: &[],
        budget: asked.terms.budget / PART,
        seed,
        doing: "comparing the worlds",
        // Programs of other versions greet with other words.
        compares_output: false,
        say: &say,
    };
    let worlds =
        [Which::A, Which::B].map(|side| world(asked, side as usize).world(&asked.terms.world, asked.terms.end, &[]));
    let mut execute =
        |which: Which, extent: &Extent| laboratory.run(subject, &worlds[which as usize], &Treatment::default(), extent);
    Ok(compare::compare(&terms, &mut execute)?)
}
