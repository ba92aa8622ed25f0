//! What the page of a document shows besides it: gathered from the recordings and trials of its case.

mod alike;
mod versions;

pub(crate) use alike::name_alike;

use crate::{Activity, Console, Document, StudyError};
use case::views::{ArmDots, Difference, Dot, PageViews, SideViews};
use case::{Answer, Bisection, Case, Comparison, Recording, Sweep};
use diagnose::Analysis;
use std::collections::BTreeMap;
use std::path::Path;

/// The views of a document, gathered from its case.
///
/// # Errors
/// Where a recording in the case cannot be read.
pub fn of(document: &Document, case: &Case) -> Result<PageViews, StudyError> {
    match document {
        Document::Answer(answer) => {
            let recording = Recording::load(case)?;
            Ok(of_answer(answer, &Analysis::new(&recording), &recording.trials))
        }
        Document::Comparison(comparison) => of_comparison(comparison, case),
        Document::Sweep(sweep) => of_sweep(sweep, case),
        Document::Bisection(bisection) => of_bisection(bisection, case),
        Document::Matrix(matrix) => versions::of_matrix(matrix, case),
    }
}

/// Gathers, and says meanwhile that the page is drawn.
pub(crate) fn gathered(
    console: &dyn Console,
    gather: impl FnOnce() -> Result<PageViews, StudyError>,
) -> Result<PageViews, StudyError> {
    let _activity = Activity::of(console, "drawing the page");
    gather()
}

/// Those of a run, or of something that was watched while running.
pub(crate) fn of_answer(answer: &Answer, analysis: &Analysis, trials: &[case::tables::Trial]) -> PageViews {
    let sides = vec![SideViews { name: String::new(), views: analysis.views(answer) }];
    PageViews { sides, differences: Vec::new(), arms: arms(answer, trials) }
}

/// Those of a comparison: recordings of both sides are read from its case.
fn of_comparison(comparison: &Comparison, case: &Case) -> Result<PageViews, StudyError> {
    let mut sides = Vec::new();
    let mut recordings = [Vec::new(), Vec::new()];
    for (index, (name, side_of)) in [("A", &comparison.a), ("B", &comparison.b)].into_iter().enumerate() {
        recordings[index] = read_all(case, &side_of.cases)?;
        if let Some(first) = recordings[index].first() {
            sides.push(side(name, first));
        }
    }
    let [a, b] = &recordings;
    let differences = difference(["A", "B"], [a, b]).into_iter().collect();
    let arms = dots_of_sides(comparison, case)?;
    Ok(PageViews { sides, differences, arms })
}

/// Those of a sweep: recordings of its stretches are read from its case.
fn of_sweep(sweep: &Sweep, case: &Case) -> Result<PageViews, StudyError> {
    let mut sides = Vec::new();
    for regime in &sweep.regimes {
        for recording in read_all(case, std::slice::from_ref(&regime.case))? {
            sides.push(side(&format!("{} = {}", sweep.parameter, regime.at), &recording));
        }
    }
    Ok(PageViews { sides, ..PageViews::default() })
}

/// Those of a bisection: recordings of both worlds are read from its case.
fn of_bisection(bisection: &Bisection, case: &Case) -> Result<PageViews, StudyError> {
    let mut sides = Vec::new();
    let mut recordings = [Vec::new(), Vec::new()];
    for (index, name) in ["good", "bad"].into_iter().enumerate() {
        recordings[index] = read_all(case, &numbered(case.folder(), name, 1))?;
        if let Some(first) = recordings[index].first() {
            sides.push(side(name, first));
        }
    }
    let [good, bad] = &recordings;
    let differences = difference(["A", "B"], [good, bad]).into_iter().collect();
    let trials: Vec<case::tables::Trial> = case.read()?;
    let arms = bisection.baseline.iter().flat_map(|one| dots(&one.metric, &trials)).collect();
    Ok(PageViews { sides, differences, arms })
}

/// The recordings of a name in a folder, from a number on: `bad-1`, `bad-2` and so on.
fn numbered(folder: &Path, name: &str, from: u32) -> Vec<String> {
    let names = (from..).map(|number| format!("{name}-{number}"));
    names.take_while(|name| folder.join(name).is_dir()).collect()
}

/// Where B's CPU time differs from A's; none where one of them was not recorded.
fn difference([a, b]: [&str; 2], [before, after]: [&[Recording]; 2]) -> Option<Difference> {
    let both = !before.is_empty() && !after.is_empty();
    both.then(|| Difference { a: a.into(), b: b.into(), flame: diagnose::flame_difference(before, after) })
}

/// What one recording of several shows, and suspects.
fn side(name: &str, recording: &Recording) -> SideViews {
    let analysis = Analysis::new(recording);
    let answer = analysis.answer("", diagnose::Options::default());
    SideViews { name: name.to_string(), views: analysis.views(&answer) }
}

/// Recordings that lie in a case: by their last name, since the case may have been moved.
fn read_all(case: &Case, cases: &[String]) -> Result<Vec<Recording>, StudyError> {
    let own = |name: &String| Some(Path::new(name).file_name()?.to_string_lossy().into_owned());
    let is_there = |name: &String| case.folder().join(name).symlink_metadata().is_ok_and(|found| found.is_dir());
    let found = cases.iter().filter_map(own).filter(is_there);
    found.map(|name| Ok(Recording::load(&case.inside(&name)?)?)).collect()
}

/// The trials of a run, each arm by each metric that it is judged by.
fn arms(answer: &Answer, trials: &[case::tables::Trial]) -> Vec<ArmDots> {
    let tried = answer.findings.iter().flat_map(|finding| finding.tried.iter().map(|tried| tried.metric.clone()));
    let mut metrics = tried.chain(answer.together.iter().map(|together| together.metric.clone())).collect::<Vec<_>>();
    metrics.sort_by_key(ToString::to_string);
    metrics.dedup();
    metrics.iter().flat_map(|metric| dots(metric, trials)).collect()
}

fn dots_of_sides(comparison: &Comparison, case: &Case) -> Result<Vec<ArmDots>, StudyError> {
    let trials: Vec<case::tables::Trial> = case.read()?;
    Ok(comparison.metrics.iter().flat_map(|one| dots(&one.metric, &trials)).collect())
}

/// Every arm's trials by one metric; nothing where the metric is not one of ours.
fn dots(metric: &lab::Metric, trials: &[case::tables::Trial]) -> Vec<ArmDots> {
    let mut arms: BTreeMap<&str, Vec<Dot>> = BTreeMap::new();
    for trial in trials {
        let Some(value) = metric.of(trial) else { continue };
        let counts = trial.applied && trial.problem.is_empty();
        arms.entry(&trial.arm).or_default().push(Dot { round: trial.round, value: metric.shown(value), counts });
    }
    arms.into_iter().map(|(arm, dots)| ArmDots { arm: arm.to_string(), metric: metric.clone(), dots }).collect()
}
