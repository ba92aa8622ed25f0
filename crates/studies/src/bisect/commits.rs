//! Which commit made it slow: a line of them, searched from the good one to the bad one.

use super::baseline::Baseline;
use super::question::Asked;
use super::runs::Runs;
use crate::Console;
use case::{BisectionOutcome, Bond, Culprit, Factor, FactorKind, Probe, ProbeKind, ProbeResult};
use lab::LabError;
use lab::bisect::Probed;
use lab::worlds::{Commit, WorldName};

/// Searches the commits between the worlds and enters the result into the document.
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
    let mut test = |number: usize| probe(asked, &commits[number], console, runs);
    let line = lab::bisect::search_line(commits.len(), &mut test)?;
    let names = commits[line.from..=line.to].iter().map(name).collect::<Vec<_>>();
    let is_one = line.first_bad().is_some();
    let bisection = &mut *runs.bisection;
    bisection.outcome = if is_one { BisectionOutcome::Confirmed } else { BisectionOutcome::Found };
    if !is_one {
        bisection
            .warnings
            .push("The commits in between could not be built or do not run; it may be any of them.".to_string());
    }
    bisection.culprit = Some(Culprit {
        cause: names.clone(),
        cure: names,
        bond: if is_one { Bond::Single } else { Bond::Bundle },
        gain: baseline.compared.first().cloned().unwrap_or_default(),
        ..Culprit::default()
    });
    Ok(())
}

/// Builds a commit and runs it in turns with the bad one.
fn probe(asked: &Asked, commit: &Commit, console: &dyn Console, runs: &mut Runs) -> Result<ProbeResult, LabError> {
    runs.say(&format!("building {}", name(commit)));
    let mut probed = Probed { result: ProbeResult::Untestable, place: None, low: None, high: None, pairs: 0 };
    let mut note = String::new();
    let revision = WorldName::Git(commit.hash.clone());
    match asked.terms.ready(&revision, console, &|line| runs.say(line)) {
        Ok(ready) => {
            let world = ready.world(&asked.terms.world, asked.terms.end, &[]);
            probed = runs.probe(&world, &name(commit))?;
        }
        Err(LabError::Interrupted) => return Err(LabError::Interrupted),
        Err(error) => note = error.to_string(),
    }
    let result = probed.result;
    runs.add(Probe { kind: ProbeKind::Part, asked: vec![name(commit)], note, ..Probe::default() }, &probed);
    Ok(result)
}

fn factor(commit: &Commit) -> Factor {
    Factor { name: name(commit), kind: FactorKind::Commit, bad: commit.hash.clone(), ..Factor::default() }
}

fn name(commit: &Commit) -> String {
    format!("{} {}", commit.short(), commit.subject)
}
