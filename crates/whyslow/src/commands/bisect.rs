//! `whyslow bisect --good WORLD --bad WORLD -- COMMAND`: which of the things that differ makes the difference.

mod baseline;
mod bench;
mod commits;
mod owners;
mod question;
mod runs;
mod splitting;
mod telling;
mod upon;
mod way_back;

use super::answer;
use crate::arguments::BisectArguments;
use crate::fail::Failure;
use crate::interrupts::Interrupts;
use crate::invoker::Invoker;
use crate::{folder, output, page, typed};
use baseline::Baseline;
use bench::Trials;
use case::{Bisection, CaseWriter};
use lab::bisect::{Axis, Closures, Ground, Layers};
use lab::{Journal, LabError, Laboratory};
use owners::Owners;
use question::{Asked, Question};
use runs::Runs;
use std::path::Path;
use std::time::{Duration, Instant};

/// The bisection itself, in its case.
pub const FILE: &str = "bisection.json";

/// Searches, keeps and prints.
pub fn bisect(arguments: &BisectArguments) -> Result<u8, Failure> {
    let invoker = Invoker::find();
    let question = Question::read(arguments, &invoker)?;
    let case = typed::case_folder(arguments.keeping.folder.as_deref(), &arguments.command, &invoker)?;
    folder::make_parents(&case, &invoker)?;
    let interrupts = Interrupts::take()?;
    let done = all(question, &case, &interrupts).inspect_err(|_| folder::remove_empty(&case));
    // Also after an error: what there is of the case belongs to the user.
    invoker.own(&case);
    show(&done?, arguments.json)
}

/// Prints a bisection, and says how it comes out.
pub fn show(bisection: &Bisection, as_json: bool) -> Result<u8, Failure> {
    let text = if as_json { output::json(bisection)? } else { report::bisection(bisection, &output::style()) };
    output::print(&text)?;
    Ok(answer::code_of(&report::bisection_outcome(bisection)))
}

/// From two names to what makes the difference.
fn all(question: Question, folder: &Path, interrupts: &Interrupts) -> Result<Bisection, Failure> {
    let begun = Instant::now();
    let asked = question.prepare(interrupts)?;
    let preparing = begun.elapsed();
    let mut writer = CaseWriter::create(folder, typed::manifest(&asked.terms.subject, &asked.terms.world))?;
    let mut baseline = Baseline::record(&asked, folder, interrupts)?;
    writer.manifest().host = baseline.host();
    let journal = Journal::open()?;
    let mut wait = |longest: Duration| interrupts.next(longest).is_some();
    let mut laboratory = Laboratory::open(&journal, asked.terms.metric.as_ref(), &mut wait)?;
    let trials = baseline.measure(&asked, &mut laboratory, folder)?;
    if let Some((first, last)) = trials.first().zip(trials.last()) {
        (writer.manifest().start, writer.manifest().end) = (first.start, last.start + last.wall);
    }
    writer.append(trials)?;
    let case = writer.close()?;
    let mut told = telling::begin(&asked, &baseline, folder);
    told.preparing_ns = preparing.as_nanos() as u64;
    if baseline.axis.is_some() {
        baseline.record_more(&asked, folder, interrupts)?;
        let searching = Searching { asked: &asked, baseline: &baseline, journal: &journal, interrupts };
        searching.search(&mut laboratory, &mut told)?;
        if !asked.terms.only_search && !interrupts.has_come() {
            upon::control(&asked, &baseline, &mut laboratory, &mut told)?;
            drop(laboratory);
            upon::cures(&asked, &baseline, interrupts, &mut told)?;
        }
    }
    if interrupts.has_come() && !told.warnings.iter().any(|warning| warning.as_str() == telling::ENDED) {
        told.warnings.push(telling::ENDED.to_string());
    }
    told.spent_ns = begun.elapsed().saturating_sub(preparing).as_nanos() as u64;
    told.summary = report::bisection_sentence(&told);
    told.page = page::keep(&case, || page::of_bisection(&told, &case));
    case.keep(FILE, &told)?;
    Ok(told)
}

/// A search under way.
struct Searching<'a> {
    asked: &'a Asked,
    baseline: &'a Baseline,
    journal: &'a Journal,
    interrupts: &'a Interrupts,
}

impl Searching<'_> {
    /// Finds what differs, which of it makes the difference, and whether that is all.
    fn search(&self, laboratory: &mut Laboratory, told: &mut Bisection) -> Result<(), Failure> {
        let (asked, baseline) = (self.asked, self.baseline);
        let Some(axis) = &baseline.axis else { return Ok(()) };
        if let Some(commits) = &asked.commits {
            let mut runs = Runs::new(asked, (baseline, axis), laboratory, told);
            let done = commits::search(asked, commits, baseline, self.interrupts, &mut runs);
            return self.ended(done, told);
        }
        self.search_factors(axis, laboratory, told)
    }

    /// The same where the worlds are not commits.
    fn search_factors(&self, axis: &Axis, laboratory: &mut Laboratory, told: &mut Bisection) -> Result<(), Failure> {
        let (asked, baseline) = (self.asked, self.baseline);
        let [good, bad] = baseline.used(asked);
        let mut differences = lab::bisect::differences(&asked.good, &asked.bad, &good, &bad)?;
        let blames = baseline.blame();
        let owners = Owners::read(asked);
        telling::suspect(&mut differences, &blames, &owners);
        let layers = Layers::lay(&differences, &asked.good, &asked.bad, self.journal)?;
        let terms = &asked.terms;
        let mut wait = |longest: Duration| self.interrupts.next(longest).is_some();
        let ground = Ground {
            differences: &differences,
            layers: &layers,
            good: &asked.good,
            bad: &asked.bad,
            used_good: &good,
            used_bad: &bad,
            world: &terms.world,
            end: terms.end,
        };
        let closures = Closures::new(ground, &mut wait)?;
        let runs = Runs::new(asked, (baseline, axis), laboratory, told);
        let mut trials = Trials::new(asked, (&differences, &layers), closures, runs);
        trials.tell_factors();
        let testable = layers.all_testable();
        let order = telling::order(&differences, terms.seed);
        let order = order.into_iter().filter(|factor| testable.contains(factor)).collect::<Vec<_>>();
        let found = lab::bisect::search(&order, &mut trials);
        let is_over = found.is_ok();
        self.ended(found.map(|found| telling::conclude(&mut trials, found, baseline)), trials.told())?;
        if is_over {
            splitting::split(asked, baseline, (&owners, &blames), self.interrupts, &mut trials)?;
        }
        if is_over && !terms.only_search {
            way_back::way_back(asked, baseline, &mut trials, self.journal, self.interrupts)?;
        }
        trials.told().burner = telling::burner(&blames, &owners, baseline.contrast());
        Ok(())
    }

    /// A search that was not brought to its end is no error: what was found out so far counts.
    fn ended(&self, done: Result<(), LabError>, told: &mut Bisection) -> Result<(), Failure> {
        match done {
            Err(LabError::Interrupted) => {
                let why = if self.interrupts.has_come() { telling::ENDED } else { telling::SPENT };
                told.warnings.push(why.to_string());
                Ok(())
            }
            done => Ok(done?),
        }
    }
}
