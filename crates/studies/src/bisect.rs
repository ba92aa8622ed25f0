//! `whyslow bisect --good WORLD --bad WORLD -- COMMAND`: which of the things that differ makes it slow.

mod baseline;
mod bench;
mod commits;
mod document;
mod owners;
mod question;
mod runs;
mod splitting;
mod upon;
mod way_back;

use crate::manifest::manifest;
use crate::unfinished::remove_empty;
use crate::{Console, Document, Done, StudyError, views};
use baseline::Baseline;
use bench::Trials;
use case::{Bisection, CaseWriter};
use lab::bisect::{Axis, Closures, Ground, Layers};
use lab::{Journal, LabError, Laboratory};
use owners::Owners;
use question::Asked;
use runs::Runs;
use std::time::{Duration, Instant};

pub use question::{Request, Terms};

/// Searches. The summary of the bisection is left empty.
///
/// # Errors
/// Where a world cannot be had, the program does not run in it, or the case cannot be written.
pub fn bisect(request: Request, console: &dyn Console) -> Result<Done, StudyError> {
    let folder = request.folder.clone();
    all(request, console).inspect_err(|_| remove_empty(&folder))
}

/// From two names to what makes the difference.
fn all(request: Request, console: &dyn Console) -> Result<Done, StudyError> {
    let begun = Instant::now();
    let folder = &request.folder.clone();
    let asked = request.prepare(console)?;
    let preparing = begun.elapsed();
    let mut writer = CaseWriter::create(folder, manifest(&asked.terms.subject, &asked.terms.world))?;
    let mut baseline = Baseline::record(&asked, folder, console)?;
    writer.manifest().host = baseline.host();
    let journal = Journal::open()?;
    let mut wait = |longest: Duration| console.next(longest).is_some();
    let mut laboratory = Laboratory::open(&journal, asked.terms.metric.as_ref(), &mut wait)?;
    let trials = baseline.measure(&asked, &mut laboratory, folder, console)?;
    if let Some((first, last)) = trials.first().zip(trials.last()) {
        (writer.manifest().start, writer.manifest().end) = (first.start, last.start + last.wall);
    }
    writer.append(trials)?;
    let case = writer.close()?;
    let mut bisection = document::begin(&asked, &baseline, folder);
    bisection.preparing_ns = preparing.as_nanos() as u64;
    let mut cures = None;
    if baseline.axis.is_some() {
        baseline.record_more(&asked, folder, console)?;
        let searching = Searching { asked: &asked, baseline: &baseline, journal: &journal, console };
        searching.search(&mut laboratory, &mut bisection)?;
        if !asked.terms.only_search && !console.has_come() {
            upon::control(&asked, &baseline, &mut laboratory, console, &mut bisection)?;
            drop(laboratory);
            cures = Some(upon::cures(&asked, &baseline, console, &mut bisection)?);
        }
    }
    if console.has_come() && !bisection.warnings.iter().any(|warning| warning.as_str() == document::ENDED) {
        bisection.warnings.push(document::ENDED.to_string());
    }
    bisection.spent_ns = begun.elapsed().saturating_sub(preparing).as_nanos() as u64;
    let document = Document::Bisection(Box::new(bisection));
    let views = views::gathered(console, || views::of(&document, &case));
    Ok(Done { inside: cures.into_iter().collect(), ..Done::of(document, case, views) })
}

/// A search under way.
struct Searching<'a> {
    asked: &'a Asked,
    baseline: &'a Baseline,
    journal: &'a Journal,
    console: &'a dyn Console,
}

impl Searching<'_> {
    /// Finds what differs, which of it makes the difference, and whether that is all.
    fn search(&self, laboratory: &mut Laboratory, bisection: &mut Bisection) -> Result<(), StudyError> {
        let (asked, baseline) = (self.asked, self.baseline);
        let Some(axis) = &baseline.axis else { return Ok(()) };
        if let Some(commits) = &asked.commits {
            let mut runs = Runs::new(asked, (baseline, axis), laboratory, self.console, bisection);
            let done = commits::search(asked, commits, baseline, self.console, &mut runs);
            drop(runs);
            return self.ended(done, bisection);
        }
        self.search_factors(axis, laboratory, bisection)
    }

    /// The same where the worlds are not commits.
    fn search_factors(
        &self,
        axis: &Axis,
        laboratory: &mut Laboratory,
        bisection: &mut Bisection,
    ) -> Result<(), StudyError> {
        let (asked, baseline) = (self.asked, self.baseline);
        let [good, bad] = baseline.used(asked);
        let mut differences = lab::bisect::differences(&asked.good, &asked.bad, &good, &bad)?;
        let blames = baseline.blame();
        let owners = Owners::read(asked);
        document::suspect(&mut differences, &blames, &owners);
        let layers = Layers::lay(&differences, &asked.good, &asked.bad, self.journal)?;
        let terms = &asked.terms;
        let mut wait = |longest: Duration| self.console.next(longest).is_some();
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
        let runs = Runs::new(asked, (baseline, axis), laboratory, self.console, bisection);
        let mut trials = Trials::new(asked, (&differences, &layers), closures, runs);
        trials.add_factors();
        let testable = layers.all_testable();
        let order = document::order(&differences, terms.seed);
        let order = order.into_iter().filter(|factor| testable.contains(factor)).collect::<Vec<_>>();
        let found = lab::bisect::search(&order, &mut trials);
        let is_over = found.is_ok();
        self.ended(found.map(|found| document::conclude(&mut trials, found, baseline)), trials.bisection())?;
        if is_over {
            splitting::split(asked, baseline, (&owners, &blames), self.console, &mut trials)?;
        }
        if is_over && !terms.only_search {
            way_back::way_back(asked, baseline, &mut trials, self.journal, self.console)?;
        }
        trials.bisection().burner = document::burner(&blames, &owners, baseline.contrast());
        Ok(())
    }

    /// A search that was not brought to its end is no error: what was found out so far counts.
    fn ended(&self, done: Result<(), LabError>, bisection: &mut Bisection) -> Result<(), StudyError> {
        match done {
            Err(LabError::Interrupted) => {
                let why = if self.console.has_come() { document::ENDED } else { document::SPENT };
                bisection.warnings.push(why.to_string());
                Ok(())
            }
            done => Ok(done?),
        }
    }
}
