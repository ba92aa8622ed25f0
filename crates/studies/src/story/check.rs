//! Whether a story came out as declared: named, located, confirmed, and its twin silent.

use super::declaration::{Expected, Story, Telling};
use super::said;
use super::telling::{Outcome, Told};
use case::{Effect, Finding, Status};
use indicatif::HumanCount;
use std::path::Path;

/// What is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aspect {
    /// The cause is called by its name; to another question, the answer is the one declared.
    Named,
    /// It points at the place in the code.
    Located,
    /// Switching it off from outside proves it.
    Confirmed,
    /// Of the twin nothing is said.
    TwinSilent,
}

impl Aspect {
    /// All, in the order of a table's columns.
    pub const ALL: [Aspect; 4] = [Aspect::Named, Aspect::Located, Aspect::Confirmed, Aspect::TwinSilent];

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Aspect::Named => "named",
            Aspect::Located => "located",
            Aspect::Confirmed => "confirmed",
            Aspect::TwinSilent => "twin silent",
        }
    }
}

/// One thing that was checked.
#[derive(Clone, Debug)]
pub struct Check {
    /// What.
    pub aspect: Aspect,
    /// Of which telling.
    pub telling: String,
    /// Whether it holds.
    pub holds: bool,
    /// What was seen.
    pub seen: String,
}

/// Holds what came of a telling against what was declared; nothing where it was skipped.
pub fn checks(story: &Story, telling: &Telling, outcome: &Outcome) -> Vec<Check> {
    let check = |(aspect, holds, seen)| Check { aspect, telling: telling.name(), holds, seen };
    let found = match outcome {
        Outcome::Skipped => Vec::new(),
        Outcome::Failed(why) => aspects(telling).into_iter().map(|aspect| (aspect, false, why.clone())).collect(),
        Outcome::Told(told) => held(story, telling, told),
    };
    found.into_iter().map(check).collect()
}

/// What a telling is told for.
fn aspects(telling: &Telling) -> Vec<Aspect> {
    match (telling.is_slow(), telling.expected.is_empty()) {
        (false, _) => vec![Aspect::TwinSilent],
        (true, true) => vec![Aspect::Named],
        (true, false) => vec![Aspect::Named, Aspect::Located, Aspect::Confirmed],
    }
}

type Held = (Aspect, bool, String);

fn held(story: &Story, telling: &Telling, told: &Told) -> Vec<Held> {
    // A bisection's findings are those of its run in the bad world: what would cure it.
    let lists = ["findings", "cures"].map(|list| serde_json::from_value::<Vec<Finding>>(told.document[list].clone()));
    let findings = lists.into_iter().flat_map(Result::unwrap_or_default).collect::<Vec<_>>();
    let mut all = telling.expected.iter().flat_map(|one| expected(story, one, &findings)).collect::<Vec<_>>();
    let aspect = if telling.is_slow() { Aspect::Named } else { Aspect::TwinSilent };
    all.extend(said::all(telling, &told.document).into_iter().map(|(holds, seen)| (aspect, holds, seen)));
    if !telling.is_slow() {
        all.push(silent(telling, told, &findings));
    }
    all
}

/// A finding that must be there, and its place and status.
fn expected(story: &Story, wanted: &Expected, findings: &[Finding]) -> Vec<Held> {
    let is_it = |finding: &&Finding| finding.name == wanted.finding && finding.title.contains(&wanted.title);
    let Some(finding) = findings.iter().find(is_it) else {
        let wanted_name = if wanted.title.is_empty() { String::new() } else { format!(" of {}", wanted.title) };
        let seen = format!("no {}{wanted_name}; {}", wanted.finding, names(findings));
        return [Aspect::Named, Aspect::Located, Aspect::Confirmed].map(|one| (one, false, seen.clone())).to_vec();
    };
    let proved = finding.status == wanted.status;
    let proof = match (&finding.effect, proved) {
        (Some(effect), true) => effect_in_words(effect),
        _ => format!("{} is {}", finding.name, status_in_words(finding)),
    };
    let (is_there, place) = located(story, wanted, finding);
    let declares_place = wanted.program.is_some() || wanted.line.is_some() || wanted.function.is_some();
    let located = declares_place.then_some((Aspect::Located, is_there, place));
    let title = if wanted.title.is_empty() { String::new() } else { format!(" of {}", wanted.title) };
    let name = format!("{}{title}", finding.name);
    if wanted.status != Status::Confirmed {
        // Nothing outside the program switches this one off: there is no proof to be had.
        let name = format!("{name}, {}", status_in_words(finding));
        return [(Aspect::Named, proved, name)].into_iter().chain(located).collect();
    }
    [(Aspect::Named, true, name)].into_iter().chain(located).chain([(Aspect::Confirmed, proved, proof)]).collect()
}

/// Whether a finding points at the place that was declared, and at which it does.
fn located(story: &Story, wanted: &Expected, finding: &Finding) -> (bool, String) {
    let Ok(line) = story.marked_line(wanted) else { return (false, "its line is no longer there".to_string()) };
    let file = wanted.program.as_ref().map(|program| Path::new(&story.name).join(program));
    let is_it = |place: &&case::Place| {
        file.as_ref().is_none_or(|file| Path::new(&place.file).ends_with(file))
            && line.is_none_or(|line| line == place.line)
            && wanted.function.as_ref().is_none_or(|function| place.function.contains(function.as_str()))
    };
    let in_words = |place: &case::Place| {
        let file = Path::new(&place.file).file_name().unwrap_or_default().to_string_lossy();
        if file.is_empty() { place.function.clone() } else { format!("{file}:{} in {}", place.line, place.function) }
    };
    match finding.place.iter().find(is_it) {
        Some(place) => (true, in_words(place)),
        None => (false, finding.place.first().map_or("it names no place".to_string(), in_words)),
    }
}

/// Whether nothing was said, or at least not what must be gone.
fn silent(telling: &Telling, told: &Told, findings: &[Finding]) -> Held {
    let is_gone = match telling.without.as_slice() {
        [] => findings.is_empty() && (told.exit == 0 || telling.exit.contains(&told.exit)),
        gone => findings.iter().all(|finding| !gone.contains(&finding.name)),
    };
    let seen = match (findings, is_gone) {
        ([], true) => "nothing found".to_string(),
        ([], false) => format!("exit status {}: {}", told.exit, told.summary()),
        _ => names(findings),
    };
    (Aspect::TwinSilent, is_gone, seen)
}

fn names(findings: &[Finding]) -> String {
    if findings.is_empty() {
        return "nothing was found".to_string();
    }
    let names = findings.iter().map(|finding| format!("{} ({})", finding.name, status_in_words(finding)));
    format!("found {}", names.collect::<Vec<_>>().join(", "))
}

fn status_in_words(finding: &Finding) -> String {
    serde_json::to_value(finding.status).ok().and_then(|word| word.as_str().map(String::from)).unwrap_or_default()
}

fn effect_in_words(effect: &Effect) -> String {
    let [ratio, low, high] = [effect.ratio, effect.low, effect.high].map(three_digits);
    format!("{}: {ratio} times less ({low} to {high}, 95 % interval)", effect.intervention)
}

/// A ratio with three significant digits.
fn three_digits(ratio: f64) -> String {
    match ratio {
        ratio if ratio >= 100.0 => {
            let unit = 10_f64.powi(ratio.log10() as i32 - 2);
            HumanCount(((ratio / unit).round() * unit) as u64).to_string()
        }
        ratio if ratio >= 10.0 => format!("{ratio:.1}"),
        ratio => format!("{ratio:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_has_three_digits_that_mean_something() {
        assert_eq!([1.038, 44.04, 610.2, 1004.6, 2285.8].map(three_digits), ["1.04", "44.0", "610", "1,000", "2,290"]);
    }
}
