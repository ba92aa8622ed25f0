//! `whyslow compare A -- B`: which of two commands or worlds is faster, by how much, and why.

use super::answer;
use crate::arguments::{CheckOutput, CompareArguments};
use crate::baseline::Baseline;
use crate::fail::Failure;
use crate::interrupts::Interrupts;
use crate::invoker::Invoker;
use crate::progress::Progress;
use crate::recording::Quiet;
use crate::sides::{Sided, sides};
use crate::{folder, output, page, recording, typed};
use case::{Case, CaseWriter, Comparison, Contrast, Recording, Side};
use lab::compare::{
    self, Condition, Measured, Terms, Unlike, Which, against_earlier, compared, excess_of, extent_of, metrics_of,
};
use lab::engine::Kind;
use lab::{Extent, Journal, Laboratory, Metric};
use std::path::Path;
use std::time::{Duration, Instant};

/// A profile of so many samples a side tells functions of a few percent; shorter programs are recorded again for it.
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
/// The comparison itself.
pub const FILE: &str = "comparison.json";

/// Compares, keeps and prints.
pub fn compare(arguments: &CompareArguments) -> Result<u8, Failure> {
    let invoker = Invoker::find();
    let both = sides(arguments, &invoker)?;
    let conditions = conditions(&arguments.fail_if)?;
    let baseline = arguments.baseline.as_deref().map(Baseline::read).transpose()?;
    let case = typed::case_folder(arguments.keeping.folder.as_deref(), &both[1].subject.client, &invoker)?;
    folder::make_parents(&case, &invoker)?;
    let comparing = Comparing {
        both: &both,
        conditions,
        baseline,
        budget: typed::budget(arguments.budget.as_deref(), Kind::Compare)?,
        metric: typed::metric(arguments.metric.as_deref())?,
        compares_output: arguments.check_output == CheckOutput::Auto,
        folder: &case,
        interrupts: Interrupts::take()?,
    };
    let done = comparing.all().inspect_err(|_| folder::remove_empty(&case));
    // Also after an error: what there is of the case belongs to the user.
    invoker.own(&case);
    show(&done?, arguments.json)
}

/// Prints a comparison, and says how it comes out.
pub fn show(comparison: &Comparison, as_json: bool) -> Result<u8, Failure> {
    if as_json {
        let text = serde_json::to_string_pretty(comparison).map_err(|error| Failure::internal(&error.to_string()))?;
        output::print(&(text + "\n"))?;
    } else {
        output::print(&report::comparison(comparison, &output::style()))?;
    }
    Ok(answer::code_of(&report::comparison_outcome(comparison)))
}

fn conditions(texts: &[String]) -> Result<Vec<Condition>, Failure> {
    let read = |text: &String| {
        text.parse().map_err(|why: String| Failure::value("--fail-if", &why, "--fail-if 'wall > 1.05x'"))
    };
    texts.iter().map(read).collect()
}

/// A comparison under way.
struct Comparing<'a> {
    both: &'a [Sided; 2],
    conditions: Vec<Condition>,
    baseline: Option<Baseline>,
    budget: Duration,
    metric: Option<Metric>,
    compares_output: bool,
    folder: &'a Path,
    interrupts: Interrupts,
}

impl Comparing<'_> {
    fn all(self) -> Result<Comparison, Failure> {
        let mut writer = CaseWriter::create(self.folder, typed::manifest(&self.both[1].subject, &self.both[1].world))?;
        let mut recorded = [Vec::new(), Vec::new()];
        for which in self.sides() {
            recorded[which as usize].push(self.record(which, 1)?);
        }
        let named = self.sides().into_iter().filter_map(|which| Some((which, recorded[which as usize].first()?)));
        let named = named.collect::<Vec<_>>();
        let firsts = named.iter().map(|(_, quiet)| *quiet).collect::<Vec<_>>();
        self.expect_same_status(&firsts)?;
        let answers = firsts.iter().map(|one| &one.answer).collect::<Vec<_>>();
        let extent = match &self.baseline {
            Some(baseline) => baseline.extent,
            None => extent_of(&answers, self.metric.as_ref(), self.budget),
        };
        self.expect_end(&named, &extent)?;
        if let Some(least) = excess_of(&answers, &extent, self.budget) {
            return Err(Failure::over_budget(least, self.budget, self.folder));
        }
        let metrics = metrics_of(&answers, &extent, self.metric.as_ref());
        if let Some(condition) = self.conditions.iter().find(|condition| !condition.is_told_by(&metrics)) {
            return Err(Failure::gate(condition.text(), &metrics));
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
            return Err(Failure::unlike(unlike, self.folder));
        }
        let mut comparison = self.draw(measured, &metrics, recorded, &case)?;
        comparison.page = page::keep(&case, || page::of_comparison(&comparison, &case));
        case.keep(FILE, &comparison)?;
        Ok(comparison)
    }

    /// The sides that are run.
    fn sides(&self) -> Vec<Which> {
        if self.baseline.is_some() { vec![Which::B] } else { Which::BOTH.to_vec() }
    }

    /// Records a side once more.
    fn record(&self, which: Which, number: usize) -> Result<Quiet, Failure> {
        let side = &self.both[which as usize];
        let folder = self.folder.join(format!("{}-{number}", which.arm().to_lowercase()));
        let again = if number == 1 { String::new() } else { format!(" again ({number} of {MOST_RECORDINGS} at most)") };
        let quiet = recording::record_quietly(
            &format!("recording {}{again}", which.arm()),
            &side.subject,
            &side.world,
            &side.arm.treatment,
            &folder,
            LONGEST.max(self.budget / LONGEST_PART),
            &self.interrupts,
        );
        quiet.map_err(|failure| {
            if number == 1 && !self.interrupts.has_come() {
                // A command that cannot be run was mistyped: what the other side did is no reason to keep a case.
                folder::remove_unfinished(self.folder);
            }
            failure.of_side(which)
        })
    }

    /// Whole runs can only be measured of programs that end.
    fn expect_end(&self, firsts: &[(Which, &Quiet)], extent: &Extent) -> Result<(), Failure> {
        let endless = firsts.iter().find(|(_, quiet)| quiet.answer.subject_exit.is_none());
        match endless.filter(|_| extent.window.is_none()) {
            Some((which, quiet)) => {
                Err(Failure::endless(*which, Duration::from_nanos(quiet.answer.wall_ns), self.folder))
            }
            None => Ok(()),
        }
    }

    /// Sides that end differently are not compared, and one that fails alone least of all.
    fn expect_same_status(&self, firsts: &[&Quiet]) -> Result<(), Failure> {
        let [a, b] = firsts else { return Ok(()) };
        let (Some(in_a), Some(in_b)) = (a.answer.subject_exit, b.answer.subject_exit) else { return Ok(()) };
        if in_a == in_b {
            return Ok(());
        }
        let (which, status, other) = if in_b == 0 { (Which::A, in_a, in_b) } else { (Which::B, in_b, in_a) };
        let said = if which == Which::A { &a.said } else { &b.said };
        Err(Failure::unlike(&Unlike::Fails { which, status, other, said: said.clone() }, self.folder))
    }

    /// Runs the trials.
    fn run(&self, extent: &Extent, metrics: &[Metric], seed: u64) -> Result<Measured, Failure> {
        let most = self.budget.as_secs_f64();
        output::say(&format!("to compare them, both are run in turns, for {most:.0} s at most"));
        let progress = Progress::of("comparing");
        let say = |line: &str| progress.say(line);
        let sides = self.sides().into_iter().map(|which| (which, self.both[which as usize].arm.clone()));
        let sides = sides.collect::<Vec<_>>();
        let terms = Terms {
            sides: &sides,
            extent: *extent,
            metrics,
            conditions: &self.conditions,
            budget: self.budget,
            seed,
            doing: "comparing",
            compares_output: self.compares_output,
            say: &say,
        };
        let journal = Journal::open()?;
        let mut wait = |longest: Duration| self.interrupts.next(longest).is_some();
        let mut laboratory = Laboratory::open(&journal, self.metric.as_ref(), &mut wait)?;
        let mut execute = |which: Which, extent: &Extent| {
            let side = &self.both[which as usize];
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
    ) -> Result<Comparison, Failure> {
        let all = match &self.baseline {
            Some(baseline) => against_earlier(&baseline.trials, &measured.trials, metrics),
            None => compared(&measured.trials, metrics),
        };
        let differs = all.iter().any(|one| matches!(one.outcome, Contrast::More | Contrast::Less));
        let mut warnings = Vec::new();
        if measured.ended_early() {
            warnings.push("It was ended by Ctrl-C or a signal; what the trials so far say stands here.".to_string());
        }
        let status = recorded.iter().flatten().find_map(|one| one.answer.subject_exit).unwrap_or_default();
        if status != 0 {
            let who = if self.baseline.is_some() { "B ends" } else { "Both end" };
            warnings.push(format!("{who} with status {status}: what was measured is perhaps how soon they fail."));
        }
        if differs && !measured.ended_early() {
            self.record_more(&mut recorded)?;
        }
        warnings
            .extend(self.baseline.iter().flat_map(|baseline| baseline.warnings(&case.manifest().host, &self.both[1])));
        let mut comparison = Comparison {
            schema: case::SCHEMA,
            case: self.folder.display().to_string(),
            a: self.side(Which::A, &recorded),
            b: self.side(Which::B, &recorded),
            outcome: all.first().map(|first| first.outcome).unwrap_or_default(),
            gates: self.conditions.iter().map(|condition| condition.gate(&all)).collect(),
            metrics: all,
            output: measured.output,
            trials: measured.trials.len() as u32,
            spent_ns: measured.spent.as_nanos() as u64,
            budget_ns: self.budget.as_nanos() as u64,
            warnings,
            ..Comparison::default()
        };
        let progress = Progress::of("looking where the difference comes from");
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
        drop(progress);
        comparison.summary = report::contrast_sentence(&comparison);
        Ok(comparison)
    }

    /// The recordings of both sides, those of an earlier day read again.
    fn recordings(&self, recorded: [Vec<Quiet>; 2]) -> Result<[Vec<Recording>; 2], Failure> {
        let [mut a, b] = recorded.map(|side| side.into_iter().map(|one| one.recording).collect::<Vec<_>>());
        if let Some(baseline) = &self.baseline {
            a = baseline.recordings()?;
        }
        Ok([a, b])
    }

    /// Records the sides again, in turns, until their profiles tell something or time is up.
    fn record_more(&self, recorded: &mut [Vec<Quiet>; 2]) -> Result<(), Failure> {
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
        if let (Some(baseline), Which::A) = (&self.baseline, which) {
            return baseline.comparison.b.clone();
        }
        let exchanges = own.iter().map(|one| one.answer.exchanges as f64).sum::<f64>();
        Side {
            cases: own.iter().map(|one| one.folder.display().to_string()).collect(),
            exchanges: exchanges / own.len().max(1) as f64,
            exit: own.first().and_then(|one| one.answer.subject_exit),
            ..self.both[which as usize].told()
        }
    }
}
