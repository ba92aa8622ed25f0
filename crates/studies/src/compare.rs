//! `whyslow compare A -- B`: which of two commands or worlds is faster, by how much, and why.

mod baseline;
mod side;

pub use baseline::Baseline;
pub use side::{Change, Sided};

use crate::manifest::manifest;
use crate::recording::{self, Quiet};
use crate::unfinished::{remove_empty, remove_unfinished};
use crate::{Activity, Console, Document, Done, StudyError, views};
use case::{Case, CaseWriter, Comparison, Contrast, Recording, Side};
use lab::compare::{
    self, Condition, Measured, Terms, Unlike, Which, against_earlier, compared, excess_of, extent_of, metrics_of,
};
use lab::{Extent, Journal, Laboratory, Metric};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A profile of this many samples a side shows functions of a few percent; shorter programs are recorded again for it.
const WANTED_SAMPLES: usize = 500;
/// Recordings of a side at most, and the time for those after the first.
const MOST_RECORDINGS: usize = 10;
const RECORDING_TIME: Duration = Duration::from_secs(10);
/// A run is recorded for so long at most, ...
const LONGEST: Duration = Duration::from_secs(20);
/// ... or for this part of the budget: longer ones do not fit into it four times on both sides.
const LONGEST_PART: u32 = 8;
/// The file that keeps how far trials went, for comparisons with this one.
pub const EXTENT_FILE: &str = "extent.json";

/// What is to be compared.
pub struct Request {
    /// Both sides, A first.
    pub sides: [Sided; 2],
    /// What is to hold.
    pub conditions: Vec<Condition>,
    /// A comparison of an earlier day whose B takes the place of A.
    pub baseline: Option<Baseline>,
    /// Time for trials.
    pub budget: Duration,
    /// What to judge by, where the user said so.
    pub metric: Option<Metric>,
    /// Whether what the programs write is compared.
    pub compares_output: bool,
    /// The case's folder, which is not there yet.
    pub folder: PathBuf,
}

/// Compares. The summary of the comparison is left empty.
///
/// # Errors
/// Where a side cannot be run or measured, or the case cannot be written.
pub fn compare(request: &Request, console: &dyn Console) -> Result<Done, StudyError> {
    Comparing { request, console }.all().inspect_err(|_| remove_empty(&request.folder))
}

/// A comparison under way.
struct Comparing<'a> {
    request: &'a Request,
    console: &'a dyn Console,
}

impl Comparing<'_> {
    fn all(&self) -> Result<Done, StudyError> {
        let mut writer = CaseWriter::create(
            &self.request.folder,
            manifest(&self.request.sides[1].subject, &self.request.sides[1].world),
        )?;
        let mut recorded = [Vec::new(), Vec::new()];
        for which in self.sides() {
            recorded[which as usize].push(self.record(which, 1)?);
        }
        let named = self.sides().into_iter().filter_map(|which| Some((which, recorded[which as usize].first()?)));
        let named = named.collect::<Vec<_>>();
        let firsts = named.iter().map(|(_, quiet)| *quiet).collect::<Vec<_>>();
        self.expect_same_status(&firsts)?;
        let answers = firsts.iter().map(|one| &one.answer).collect::<Vec<_>>();
        let extent = match &self.request.baseline {
            Some(baseline) => baseline.extent,
            None => extent_of(&answers, self.request.metric.as_ref(), self.request.budget),
        };
        self.expect_end(&named, &extent)?;
        if let Some(least) = excess_of(&answers, &extent, self.request.budget) {
            return Err(StudyError::OverBudget {
                least,
                budget: self.request.budget,
                case: self.request.folder.clone(),
            });
        }
        let metrics = metrics_of(&answers, &extent, self.request.metric.as_ref());
        if let Some(condition) = self.request.conditions.iter().find(|condition| !condition.is_decidable_by(&metrics)) {
            return Err(StudyError::Undecidable { condition: condition.text().to_string(), metrics });
        }
        let manifest = &firsts[0].recording.manifest;
        let seed = manifest.started_unix_seconds;
        writer.manifest().host = manifest.host.clone();
        let measured = self.run(&extent, &metrics, seed)?;
        if let Some((first, last)) = measured.trials.first().zip(measured.trials.last()) {
            (writer.manifest().start, writer.manifest().end) = (first.start, last.start + last.wall);
        }
        writer.append(measured.trials.clone())?;
        let case = writer.close()?;
        case.keep(EXTENT_FILE, &extent)?;
        if let Some(unlike) = &measured.unlike {
            return Err(StudyError::Unlike { unlike: unlike.clone(), case: self.request.folder.clone() });
        }
        let comparison = self.draw(measured, &metrics, recorded, &case)?;
        let document = Document::Comparison(Box::new(comparison));
        let views = views::gathered(self.console, || views::of(&document, &case));
        Ok(Done::of(document, case, views))
    }

    /// The sides that are run.
    fn sides(&self) -> Vec<Which> {
        if self.request.baseline.is_some() { vec![Which::B] } else { Which::BOTH.to_vec() }
    }

    /// Records a side once more.
    fn record(&self, which: Which, number: usize) -> Result<Quiet, StudyError> {
        let side = &self.request.sides[which as usize];
        let folder = self.request.folder.join(format!("{}-{number}", which.arm().to_lowercase()));
        let again = if number == 1 { String::new() } else { format!(" again ({number} of {MOST_RECORDINGS} at most)") };
        let quiet = recording::record_quietly(
            &format!("recording {}{again}", which.arm()),
            &side.subject,
            &side.world,
            &side.arm.treatment,
            &folder,
            LONGEST.max(self.request.budget / LONGEST_PART),
            self.console,
        );
        quiet.map_err(|failure| {
            if number == 1 && !self.console.has_come() {
                // A command that cannot be run was mistyped: what the other side did is no reason to keep a case.
                remove_unfinished(&self.request.folder);
            }
            failure.of_side(which)
        })
    }

    /// Whole runs can only be measured of programs that end.
    fn expect_end(&self, firsts: &[(Which, &Quiet)], extent: &Extent) -> Result<(), StudyError> {
        let endless = firsts.iter().find(|(_, quiet)| quiet.answer.subject_exit.is_none());
        match endless.filter(|_| extent.window.is_none()) {
            Some((which, quiet)) => {
                let recorded = Duration::from_nanos(quiet.answer.wall_ns);
                Err(StudyError::Endless { side: Some(*which), recorded, case: self.request.folder.clone() })
            }
            None => Ok(()),
        }
    }

    /// Sides that end differently are not compared, and one that fails alone least of all.
    fn expect_same_status(&self, firsts: &[&Quiet]) -> Result<(), StudyError> {
        let [a, b] = firsts else { return Ok(()) };
        let (Some(in_a), Some(in_b)) = (a.answer.subject_exit, b.answer.subject_exit) else { return Ok(()) };
        if in_a == in_b {
            return Ok(());
        }
        let (which, status, other) = if in_b == 0 { (Which::A, in_a, in_b) } else { (Which::B, in_b, in_a) };
        let said = if which == Which::A { &a.said } else { &b.said };
        let unlike = Unlike::Fails { which, status, other, said: said.clone() };
        Err(StudyError::Unlike { unlike, case: self.request.folder.clone() })
    }

    /// Runs the trials.
    fn run(&self, extent: &Extent, metrics: &[Metric], seed: u64) -> Result<Measured, StudyError> {
        let most = self.request.budget.as_secs_f64();
        self.console.note(&format!("running both alternately, for up to {most:.0} s"));
        let activity = Activity::of(self.console, "comparing");
        let say = |line: &str| activity.say(line);
        let sides = self.sides().into_iter().map(|which| (which, self.request.sides[which as usize].arm.clone()));
        let sides = sides.collect::<Vec<_>>();
        let terms = Terms {
            sides: &sides,
            extent: *extent,
            metrics,
            conditions: &self.request.conditions,
            budget: self.request.budget,
            seed,
            doing: "comparing",
            compares_output: self.request.compares_output,
            say: &say,
        };
        let journal = Journal::open()?;
        let mut wait = |longest: Duration| self.console.next(longest).is_some();
        let mut laboratory = Laboratory::open(&journal, self.request.metric.as_ref(), &mut wait)?;
        let mut execute = |which: Which, extent: &Extent| {
            let side = &self.request.sides[which as usize];
            laboratory.run(&side.subject, &side.world, &side.arm.treatment, extent)
        };
        Ok(compare::compare(&terms, &mut execute)?)
    }

    /// What it all means.
    fn draw(
        &self,
        measured: Measured,
        metrics: &[Metric],
        mut recorded: [Vec<Quiet>; 2],
        case: &Case,
    ) -> Result<Comparison, StudyError> {
        let all = match &self.request.baseline {
            Some(baseline) => against_earlier(&baseline.trials, &measured.trials, metrics),
            None => compared(&measured.trials, metrics),
        };
        let differs = all.iter().any(|one| matches!(one.outcome, Contrast::More | Contrast::Less));
        let mut warnings = Vec::new();
        if measured.ended_early() {
            warnings.push("Interrupted by Ctrl-C or a signal; these are the results of the trials so far.".to_string());
        }
        let status = recorded.iter().flatten().find_map(|one| one.answer.subject_exit).unwrap_or_default();
        if status != 0 {
            let who = if self.request.baseline.is_some() { "B exits" } else { "Both exit" };
            warnings.push(format!("{who} with status {status}: this may measure how fast they fail."));
        }
        if differs && !measured.ended_early() {
            self.record_more(&mut recorded)?;
        }
        warnings.extend(
            self.request
                .baseline
                .iter()
                .flat_map(|baseline| baseline.warnings(&case.manifest().host, &self.request.sides[1])),
        );
        let mut comparison = Comparison {
            schema: case::SCHEMA,
            case: self.request.folder.display().to_string(),
            a: self.side(Which::A, &recorded),
            b: self.side(Which::B, &recorded),
            outcome: all.first().map(|first| first.outcome).unwrap_or_default(),
            gates: self.request.conditions.iter().map(|condition| condition.gate(&all)).collect(),
            metrics: all,
            output: measured.output,
            trials: measured.trials.len() as u32,
            spent_ns: measured.spent.as_nanos() as u64,
            budget_ns: self.request.budget.as_nanos() as u64,
            warnings,
            ..Comparison::default()
        };
        let activity = Activity::of(self.console, "looking for the source of the difference");
        let recordings = self.recordings(recorded)?;
        if let ([a, b], true) = (&recordings, differs)
            && !a.is_empty()
            && !b.is_empty()
        {
            let why = diagnose::contrast(a, b);
            (comparison.per, comparison.ledger) = (why.per, why.ledger);
            (comparison.chain, comparison.hot_spots) = (why.chain, why.hot_spots);
            (comparison.libraries, comparison.functions, comparison.calls) = (why.libraries, why.functions, why.calls);
        }
        drop(activity);
        Ok(comparison)
    }

    /// The recordings of both sides, those of an earlier day read again.
    fn recordings(&self, recorded: [Vec<Quiet>; 2]) -> Result<[Vec<Recording>; 2], StudyError> {
        let [mut a, b] = recorded.map(|side| side.into_iter().map(|one| one.recording).collect::<Vec<_>>());
        if let Some(baseline) = &self.request.baseline {
            a = baseline.recordings()?;
        }
        Ok([a, b])
    }

    /// Records the sides again, in turns, until there are enough samples or time is up.
    fn record_more(&self, recorded: &mut [Vec<Quiet>; 2]) -> Result<(), StudyError> {
        let begun = Instant::now();
        for number in 2..=MOST_RECORDINGS {
            let samples = |side: &[Quiet]| side.iter().map(|one| one.recording.samples.len()).sum::<usize>();
            let is_enough = self.sides().iter().all(|which| samples(&recorded[*which as usize]) >= WANTED_SAMPLES);
            let taken = begun.elapsed() / (number as u32 - 1);
            if is_enough || begun.elapsed() + taken > RECORDING_TIME {
                break;
            }
            for which in self.sides() {
                recorded[which as usize].push(self.record(which, number)?);
            }
        }
        Ok(())
    }

    fn side(&self, which: Which, recorded: &[Vec<Quiet>; 2]) -> Side {
        let own = &recorded[which as usize];
        if let (Some(baseline), Which::A) = (&self.request.baseline, which) {
            return baseline.comparison.b.clone();
        }
        let exchanges = own.iter().map(|one| one.answer.exchanges as f64).sum::<f64>();
        Side {
            cases: own.iter().map(|one| one.folder.display().to_string()).collect(),
            exchanges: exchanges / own.len().max(1) as f64,
            exit: own.first().and_then(|one| one.answer.subject_exit),
            ..self.request.sides[which as usize].side()
        }
    }
}
