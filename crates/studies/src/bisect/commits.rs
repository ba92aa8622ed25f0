//! Which commits made it slow: a line of them, searched from the good one to the bad one.

mod builds;

use super::baseline::Baseline;
use super::question::Asked;
use super::runs::Runs;
use crate::Console;
use builds::Builds;
use case::{Bisection, BisectionOutcome, Bond, Culprit, Factor, FactorKind, Probe, ProbeKind, ProbeResult, Stair};
use lab::LabError;
use lab::bisect::{Artefact, Line, Probed, Workshop};
use lab::worlds::Commit;

/// Searches the commits between the worlds and enters the result into the document, also where the search is ended.
///
/// # Errors
/// Where the laboratory fails; [`LabError::Interrupted`] where the user wants an end or time is up.
pub fn search(
    asked: &Asked,
    commits: &[Commit],
    baseline: &Baseline,
    console: &dyn Console,
    runs: &mut Runs,
) -> Result<(), LabError> {
    runs.bisection.factors = commits.iter().map(factor).collect();
    let builds = Builds::new(asked, baseline, console)?;
    let commits = builds.that_matter(commits)?;
    let mut line = Line::new(commits.len(), baseline.gains.clone(), runs.deviation());
    line.know_ends(builds.artefact(&asked.good)?, builds.artefact(&asked.bad)?);
    let mut searching = Searching { commits: &commits, builds: &builds, runs };
    let done = line.search(builds.side_by_side, &mut searching);
    conclude(&line, &commits, baseline, runs.bisection);
    done
}

/// A search under way.
struct Searching<'a, 'b, 'r, 'l> {
    commits: &'a [Commit],
    builds: &'a Builds<'b>,
    runs: &'a mut Runs<'r, 'l>,
}

impl Searching<'_, '_, '_, '_> {
    fn add(&mut self, commit: usize, note: String, probed: &Probed) {
        let asked = vec![name(&self.commits[commit])];
        self.runs.add(Probe { kind: ProbeKind::Part, asked, note, ..Probe::default() }, probed);
    }
}

impl Workshop for Searching<'_, '_, '_, '_> {
    fn build(&mut self, commits: &[usize]) -> Result<Vec<Option<Artefact>>, LabError> {
        let wanted = commits.iter().map(|commit| &self.commits[*commit]).collect::<Vec<_>>();
        let built = self.builds.build(&wanted, self.runs)?;
        self.runs.bisection.builds += wanted.len() as u32;
        let mut artefacts = Vec::new();
        for (commit, outcome) in commits.iter().zip(built) {
            if let Err(why) = &outcome {
                self.add(*commit, why.clone(), &Probed { result: ProbeResult::Untestable, ..Probed::default() });
            }
            artefacts.push(outcome.ok());
        }
        Ok(artefacts)
    }

    fn measure(&mut self, commit: usize, is_enough: &dyn Fn(&[f64]) -> bool) -> Result<Option<Vec<f64>>, LabError> {
        let ready = self.builds.ready(&self.commits[commit])?;
        let (probed, gains) = self.runs.gains(&ready, &name(&self.commits[commit]), is_enough)?;
        self.add(commit, String::new(), &probed);
        Ok((!gains.is_empty()).then_some(gains))
    }

    fn is_same(&mut self, commit: usize, as_other: Option<usize>) {
        let other = as_other.map_or("the good one".to_string(), |other| self.commits[other].short().to_string());
        self.runs.say(&format!("{} builds into the same as {other}", self.commits[commit].short()));
        self.runs.bisection.same_builds += 1;
    }
}

/// Enters the steps that are known into the document, and what they come down to.
fn conclude(line: &Line, commits: &[Commit], baseline: &Baseline, bisection: &mut Bisection) {
    let stairs = line.stairs();
    bisection.stairs = stairs.iter().map(|stair| self::stair(stair, commits)).collect();
    let slower = bisection.stairs.iter().filter(|stair| stair.times > 1.0 && !stair.is_open).collect::<Vec<_>>();
    let is_open = bisection.stairs.iter().any(|stair| stair.is_open);
    bisection.outcome = match (slower.is_empty(), is_open, slower.iter().all(|stair| stair.commits.len() == 1)) {
        (true, ..) => BisectionOutcome::Undecided,
        (false, false, true) => BisectionOutcome::Confirmed,
        _ => BisectionOutcome::Found,
    };
    if slower.iter().any(|stair| stair.commits.len() > 1) {
        let why = "The commits in between could not be built or do not run; it may be any of them.";
        bisection.warnings.push(why.to_string());
    }
    let names = slower.iter().flat_map(|stair| stair.commits.clone()).collect::<Vec<_>>();
    let bond = match slower.as_slice() {
        [one] if one.commits.len() == 1 => Bond::Single,
        [_] => Bond::Bundle,
        _ => Bond::Each,
    };
    bisection.culprit = (!names.is_empty()).then(|| Culprit {
        cause: names.clone(),
        cure: names,
        bond,
        gain: baseline.compared.first().cloned().unwrap_or_default(),
        ..Culprit::default()
    });
}

fn stair(stair: &lab::bisect::Stair, commits: &[Commit]) -> Stair {
    let part_of = |size: f64| size / stair.size * stair.part;
    let ends = [part_of(stair.low), part_of(stair.high)];
    Stair {
        commits: commits[stair.from..=stair.to].iter().map(name).collect(),
        is_open: stair.is_open,
        times: stair.size.exp(),
        low: stair.low.exp(),
        high: stair.high.exp(),
        part: stair.part,
        part_low: ends[0].min(ends[1]),
        part_high: ends[0].max(ends[1]),
    }
}

fn factor(commit: &Commit) -> Factor {
    Factor { name: name(commit), kind: FactorKind::Commit, bad: commit.hash.clone(), ..Factor::default() }
}

fn name(commit: &Commit) -> String {
    format!("{} {}", commit.short(), commit.subject)
}
