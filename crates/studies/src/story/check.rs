//! Whether a story came out as declared: named, located, confirmed, and its twin silent.

use super::declaration::{Expected, Story, Variant};
use super::running::{Answered, VariantRun};
use super::said;
use case::{Effect, Finding, Status, StoryAspect, StoryCheck};
use indicatif::HumanCount;
use std::path::Path;

/// Compares what came of a variant with what was declared; nothing where it was skipped.
pub fn checks(story: &Story, variant: &Variant, outcome: &VariantRun) -> Vec<StoryCheck> {
    let check = |(aspect, holds, seen)| StoryCheck { aspect, variant: variant.label(), holds, seen };
    let found = match outcome {
        VariantRun::Skipped => Vec::new(),
        VariantRun::Failed(why) => aspects(variant).into_iter().map(|aspect| (aspect, false, why.clone())).collect(),
        VariantRun::Answered(answer) => held(story, variant, answer),
    };
    found.into_iter().map(check).collect()
}

/// What a variant is run for.
fn aspects(variant: &Variant) -> Vec<StoryAspect> {
    match (variant.is_slow(), variant.expected.is_empty()) {
        (false, _) => vec![StoryAspect::TwinSilent],
        (true, true) => vec![StoryAspect::Named],
        (true, false) => vec![StoryAspect::Named, StoryAspect::Located, StoryAspect::Confirmed],
    }
}

type Held = (StoryAspect, bool, String);

fn held(story: &Story, variant: &Variant, answer: &Answered) -> Vec<Held> {
    // A bisection's findings are those of its run in the bad world: what would cure it.
    let lists = ["findings", "cures"].map(|list| serde_json::from_value::<Vec<Finding>>(answer.document[list].clone()));
    let findings = lists.into_iter().flat_map(Result::unwrap_or_default).collect::<Vec<_>>();
    let mut all = variant.expected.iter().flat_map(|one| expected(story, one, &findings)).collect::<Vec<_>>();
    let aspect = if variant.is_slow() { StoryAspect::Named } else { StoryAspect::TwinSilent };
    all.extend(said::all(variant, &answer.document).into_iter().map(|(holds, seen)| (aspect, holds, seen)));
    if !variant.is_slow() {
        all.push(silent(variant, answer, &findings));
    }
    all
}

/// A finding that must be there, and its place and status.
fn expected(story: &Story, wanted: &Expected, findings: &[Finding]) -> Vec<Held> {
    let is_it = |finding: &&Finding| finding.name == wanted.finding && finding.title.contains(&wanted.title);
    let Some(finding) = findings.iter().find(is_it) else {
        let seen = format!("no {}; {}", name_in_words(wanted), names(findings));
        return [StoryAspect::Named, StoryAspect::Located, StoryAspect::Confirmed]
            .map(|one| (one, false, seen.clone()))
            .to_vec();
    };
    let will_do = wanted.or.contains(&finding.status);
    let proved = finding.status == wanted.status || will_do;
    let proof = match (&finding.effect, proved) {
        (Some(effect), true) => effect_in_words(effect),
        _ => format!("{} is {}", finding.name, status_in_words(finding)),
    };
    let (is_there, place) = located(story, wanted, finding);
    let declares_place = wanted.program.is_some() || wanted.line.is_some() || wanted.function.is_some();
    let located = declares_place.then_some((StoryAspect::Located, is_there, place));
    let name = format!("{}{}", name_in_words(wanted), rank(finding, findings));
    if wanted.status != Status::Confirmed || will_do {
        // Nothing outside the program switches this one off, or not on every machine.
        let name = format!("{name}, {}", status_in_words(finding));
        return [(StoryAspect::Named, proved, name)].into_iter().chain(located).collect();
    }
    [(StoryAspect::Named, true, name)]
        .into_iter()
        .chain(located)
        .chain([(StoryAspect::Confirmed, proved, proof)])
        .collect()
}

/// Which of the findings it is, in the order in which they are shown; nothing where it is the only one.
fn rank(finding: &Finding, findings: &[Finding]) -> String {
    let at = findings.iter().position(|one| std::ptr::eq(one, finding)).map_or(0, |place| place + 1);
    match (at, findings.len()) {
        (_, 0 | 1) => String::new(),
        (1, all) => format!(", first of {all}"),
        (at, all) => format!(", number {at} of {all}"),
    }
}

/// Which finding is wanted: its name, and what its title must say.
fn name_in_words(wanted: &Expected) -> String {
    let title = if wanted.title.is_empty() { String::new() } else { format!(" (\"{}\")", wanted.title) };
    format!("{}{title}", wanted.finding)
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
fn silent(variant: &Variant, answer: &Answered, findings: &[Finding]) -> Held {
    let is_gone = match variant.without.as_slice() {
        [] => findings.is_empty() && (answer.exit == 0 || variant.exit.contains(&answer.exit)),
        gone => findings.iter().all(|finding| !gone.contains(&finding.name)),
    };
    let seen = match (findings, is_gone) {
        ([], true) => "nothing found".to_string(),
        ([], false) => format!("exit status {}: {}", answer.exit, answer.summary()),
        _ => names(findings),
    };
    (StoryAspect::TwinSilent, is_gone, seen)
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
