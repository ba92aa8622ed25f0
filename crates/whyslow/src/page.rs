//! The page of a case: gathers what it shows and keeps it as `report.html`.

mod versions;

pub use versions::of_matrix;

use crate::commands::{bisect, compare, matrix, sweep};
use crate::fail::Failure;
use crate::output;
use crate::progress::Progress;
use case::views::{ArmDots, Dot};
use case::{Answer, Bisection, Case, Comparison, Matrix, Recording, Sweep};
use report::page::{Difference, Material, SideViews, Told};
use std::collections::BTreeMap;
use std::path::Path;

/// The page's name in the case.
pub const FILE: &str = "report.html";

/// Draws the page of a case and keeps it there: its path. Where that fails, it is said, and there is none: the verdict
/// stands without it.
pub fn keep(case: &Case, draw: impl FnOnce() -> Result<String, Failure>) -> String {
    let progress = Progress::begin();
    progress.say("drawing the page");
    let file = case.folder().join(FILE);
    let written = draw().and_then(|page| output::write(page.as_bytes(), Some(&file)));
    drop(progress);
    match written {
        Ok(()) => std::path::absolute(&file).unwrap_or(file).display().to_string(),
        Err(failure) => {
            output::say(&format!("the page could not be drawn: {}", failure.in_a_line()));
            String::new()
        }
    }
}

/// The page that a case holds already; empty where there is none.
pub fn kept(case: &Case) -> String {
    let file = case.folder().join(FILE);
    if file.is_file() { std::path::absolute(&file).unwrap_or(file).display().to_string() } else { String::new() }
}

/// The page of a run, or of something that was watched while running.
pub fn of_answer(answer: &Answer, recording: &Recording) -> String {
    let sides = vec![side("", recording, answer)];
    let arms = arms(answer, &recording.trials);
    report::page::page(&Material { told: Told::Answer(answer), sides, differences: Vec::new(), arms })
}

/// The page of a comparison: recordings of both sides are read from its case.
pub fn of_comparison(comparison: &Comparison, case: &Case) -> Result<String, Failure> {
    let mut sides = Vec::new();
    let mut recordings = [Vec::new(), Vec::new()];
    for (index, (name, side_of)) in [("A", &comparison.a), ("B", &comparison.b)].into_iter().enumerate() {
        recordings[index] = read_all(case.folder(), &side_of.cases)?;
        if let Some(first) = recordings[index].first() {
            sides.push(side(name, first, &diagnose::diagnose(first, "", &diagnose::Options::default())));
        }
    }
    let [a, b] = &recordings;
    let differences = difference(["A", "B"], [a, b]).into_iter().collect();
    let arms = dots_of_sides(comparison, case)?;
    Ok(report::page::page(&Material { told: Told::Comparison(comparison), sides, differences, arms }))
}

/// The page of a sweep: recordings of its stretches are read from its case.
pub fn of_sweep(sweep: &Sweep, case: &Case) -> Result<String, Failure> {
    let mut sides = Vec::new();
    for regime in &sweep.regimes {
        for recording in read_all(case.folder(), std::slice::from_ref(&regime.case))? {
            let answer = diagnose::diagnose(&recording, "", &diagnose::Options::default());
            sides.push(side(&format!("{} = {}", sweep.parameter, regime.at), &recording, &answer));
        }
    }
    Ok(report::page::page(&Material { told: Told::Sweep(sweep), sides, differences: Vec::new(), arms: Vec::new() }))
}

/// The page of a bisection: recordings of both worlds are read from its case.
pub fn of_bisection(bisection: &Bisection, case: &Case) -> Result<String, Failure> {
    let mut sides = Vec::new();
    let mut recordings = [Vec::new(), Vec::new()];
    for (index, name) in ["good", "bad"].into_iter().enumerate() {
        recordings[index] = read_all(case.folder(), &numbered(case.folder(), name, 1))?;
        if let Some(first) = recordings[index].first() {
            sides.push(side(name, first, &diagnose::diagnose(first, "", &diagnose::Options::default())));
        }
    }
    let [good, bad] = &recordings;
    let differences = difference(["A", "B"], [good, bad]).into_iter().collect();
    let trials: Vec<case::tables::Trial> = case.read()?;
    let arms = bisection.baseline.iter().flat_map(|one| dots(&one.metric, &trials)).collect();
    Ok(report::page::page(&Material { told: Told::Bisection(bisection), sides, differences, arms }))
}

/// The recordings of a name in a folder, from a number on: `bad-1`, `bad-2` and so on.
fn numbered(folder: &Path, name: &str, from: u32) -> Vec<String> {
    let names = (from..).map(|number| format!("{name}-{number}"));
    names.take_while(|name| folder.join(name).is_dir()).collect()
}

/// Where B's processor time differs from A's; none where one of them was not recorded.
fn difference([a, b]: [&str; 2], [before, after]: [&[Recording]; 2]) -> Option<Difference> {
    let both = !before.is_empty() && !after.is_empty();
    both.then(|| Difference { a: a.into(), b: b.into(), flame: diagnose::flame_difference(before, after) })
}

fn side(name: &str, recording: &Recording, answer: &Answer) -> SideViews {
    SideViews { name: name.to_string(), views: diagnose::views(recording, answer) }
}

/// Recordings that lie in a case: by their last name, since the case may have been moved.
fn read_all(folder: &Path, cases: &[String]) -> Result<Vec<Recording>, Failure> {
    let own = |name: &String| Path::new(name).file_name().map(|last| folder.join(last));
    let found = cases.iter().filter_map(own).filter(|path| path.is_dir());
    found.map(|path| Ok(Recording::load(&Case::open(&path)?)?)).collect()
}

/// The trials of a run, each arm by each metric that it is judged by.
fn arms(answer: &Answer, trials: &[case::tables::Trial]) -> Vec<ArmDots> {
    let tried = answer.findings.iter().flat_map(|finding| finding.tried.iter().map(|tried| tried.metric.clone()));
    let mut metrics = tried.chain(answer.together.iter().map(|together| together.metric.clone())).collect::<Vec<_>>();
    metrics.sort();
    metrics.dedup();
    metrics.iter().flat_map(|metric| dots(metric, trials)).collect()
}

fn dots_of_sides(comparison: &Comparison, case: &Case) -> Result<Vec<ArmDots>, Failure> {
    let trials: Vec<case::tables::Trial> = case.read()?;
    Ok(comparison.metrics.iter().flat_map(|one| dots(&one.metric, &trials)).collect())
}

/// Every arm's trials by one metric; nothing where the metric is not one of ours.
fn dots(name: &str, trials: &[case::tables::Trial]) -> Vec<ArmDots> {
    let Ok(metric) = name.parse::<lab::Metric>() else { return Vec::new() };
    let mut arms: BTreeMap<&str, Vec<Dot>> = BTreeMap::new();
    for trial in trials {
        let Some(value) = metric.of(trial) else { continue };
        let counts = trial.applied && trial.problem.is_empty();
        arms.entry(&trial.arm).or_default().push(Dot { round: trial.round, value: metric.shown(value), counts });
    }
    arms.into_iter().map(|(arm, dots)| ArmDots { arm: arm.to_string(), metric: name.to_string(), dots }).collect()
}

/// The page of whatever a case holds.
pub fn of_case(case: &Case, answer: &Answer, recording: &Recording) -> Result<String, Failure> {
    if let Some(comparison) = case.kept::<Comparison>(compare::FILE)? {
        return of_comparison(&comparison, case);
    }
    if let Some(bisection) = case.kept::<Bisection>(bisect::FILE)? {
        return of_bisection(&bisection, case);
    }
    if let Some(matrix) = case.kept::<Matrix>(matrix::FILE)? {
        return of_matrix(&matrix, case);
    }
    match case.kept::<Sweep>(sweep::FILE)? {
        Some(sweep) => of_sweep(&sweep, case),
        None => Ok(of_answer(answer, recording)),
    }
}
