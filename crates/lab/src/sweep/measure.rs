//! A sweep from end to end: first runs, rounds over all values, cliffs, and what the curve says.

use super::bench::Bench;
use super::values::Vary;
use super::{At, SweepTerms, Swept, cliffs, pilot, points, rounds, shape};
use crate::error::LabError;
use case::{SCHEMA, Sweep};

/// All of it.
pub(super) fn run(vary: &Vary, execute: &mut At, terms: &SweepTerms) -> Result<Swept, LabError> {
    let mut bench = Bench::new(vary, execute, terms);
    match measure(&mut bench) {
        Ok(()) => {}
        Err(LabError::Interrupted) if !bench.measured().is_empty() => {
            bench.warnings.push("interrupted by Ctrl-C or a signal; these are the results so far".to_string());
        }
        Err(error) => return Err(error),
    }
    if bench.measured().is_empty() {
        return Err(LabError::World(why_nothing(&bench)));
    }
    Ok(swept(bench))
}

fn measure(bench: &mut Bench) -> Result<(), LabError> {
    let ends = pilot::run(bench)?;
    rounds::run(bench, &ends)?;
    if !bench.vary.is_of_words() {
        cliffs::find(bench)?;
    }
    Ok(())
}

fn why_nothing(bench: &Bench) -> String {
    let problems = bench.attempts.iter().map(|attempt| attempt.row.problem.as_str());
    let left_out = bench.left_out.iter().map(|one| one.why.as_str());
    let why = problems.chain(left_out).rfind(|why| !why.is_empty()).unwrap_or("there was no time for a trial");
    why.to_string()
}

fn swept(mut bench: Bench) -> Swept {
    bench.cliffs.sort_by(|one, other| one.below.total_cmp(&other.below));
    let shape = if bench.vary.is_of_words() || !bench.cliffs.is_empty() {
        shape::Shape::default()
    } else {
        shape::of(&bench.measured(), &bench.metric, bench.terms.seed)
    };
    let sweep = Sweep {
        schema: SCHEMA,
        parameter: bench.vary.name.clone(),
        value_kind: Some(bench.vary.kind()),
        metric: bench.metric.clone(),
        points: points::all(&bench),
        cliffs: bench.cliffs.clone(),
        knee: shape.knee,
        growth: shape.growth,
        trials: bench.attempts.len() as u32,
        spent_ns: bench.state.spent().as_nanos() as u64,
        budget_ns: bench.terms.budget.as_nanos() as u64,
        warnings: bench.warnings,
        ..Sweep::default()
    };
    let trials = bench.attempts.into_iter().map(|attempt| attempt.row).collect();
    Swept { sweep, metric: bench.metric, trials }
}
