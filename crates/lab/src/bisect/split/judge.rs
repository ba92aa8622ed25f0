//! What other versions and the profile say of a bundle. Pure.

use super::{Member, Split, Tried, Way};
use case::{Cleared, ProbeResult};

/// Less than this part of the time is no part in it.
const NO_PART: f64 = 0.03;
/// Less would be shown as 0.0 %.
const NEXT_TO_NONE: f64 = 0.0005;
/// From this part of the difference on, a version that stays bad clears nobody: it may be slow in the same way.
const CONTRADICTS: f64 = 0.2;
/// Who is left over must have this part of the difference, where it is known.
const MOST: f64 = 0.5;
/// A version alone that goes so far from bad to good makes it mostly good.
const MOSTLY_GOOD: f64 = 0.5;

/// Which member it is, if that can be said; and which it is not.
pub fn judge(bundle: &[Member], tried: &[Tried]) -> Split {
    let cures = |factor: usize| tried.iter().find(|tried| tried.way.factor() == factor && is_cure(tried));
    let curing = (0..bundle.len()).filter(|factor| cures(*factor).is_some()).collect::<Vec<_>>();
    let clearing = |factor: usize| match cures(factor) {
        Some(_) => None,
        None => why_cleared(&bundle[factor], &of(tried, factor)),
    };
    let cleared = (0..bundle.len()).filter_map(|factor| {
        let (member, why) = (&bundle[factor], clearing(factor)?);
        Some(Cleared { factor: member.name.clone(), why, share: member.cpu_share.unwrap_or_default() })
    });
    let cleared = cleared.collect::<Vec<_>>();
    let left = (0..bundle.len()).filter(|factor| clearing(*factor).is_none()).collect::<Vec<_>>();
    let (found, mut reasons) = match (curing.as_slice(), left.as_slice()) {
        ([one], _) => (Some(*one), cures(*one).map(|tried| cured(&bundle[*one], tried)).into_iter().collect()),
        ([], [one]) => left_over(&bundle[*one], *one, bundle.len()),
        ([], []) => (None, vec!["each member alone is cleared; they may be slow only together".to_string()]),
        ([], _) => (None, vec![format!("the trials do not decide between {}", names(bundle, &left))]),
        (several, _) => (None, vec![format!("replacing any one of {} makes it fast again", names(bundle, several))]),
    };
    if let Some(share) = found.and_then(|one| bundle[one].cpu_share.filter(|share| *share >= MOST)) {
        let name = found.map_or("", |one| bundle[one].name.as_str());
        reasons.push(format!("{} of the CPU time in the bad world is {name}'s", percent(share)));
    }
    Split { split: found.map(|one| bundle[one].name.clone()).unwrap_or_default(), reasons, cleared }
}

fn of(tried: &[Tried], factor: usize) -> Vec<&Tried> {
    tried.iter().filter(|tried| tried.way.factor() == factor).collect()
}

/// Whether a version alone makes it good, or mostly.
fn is_cure(tried: &Tried) -> bool {
    let is_far = tried.place.is_some_and(|place| place >= MOSTLY_GOOD);
    tried.result == ProbeResult::Good || (tried.result == ProbeResult::Unclear && is_far)
}

/// What clears a member; none where nothing does.
fn why_cleared(member: &Member, tried: &[&Tried]) -> Option<String> {
    let stayed = tried.iter().find(|tried| tried.result == ProbeResult::Bad);
    let moved = tried.iter().any(|tried| tried.result == ProbeResult::Unclear);
    let version = stayed.map(|tried| format!("with {} the bad world stays slow", version(member, tried)));
    let shares = member.cpu_share.zip(member.difference);
    let has_no_part = shares.is_some_and(|(cpu, more)| cpu < NO_PART && more < NO_PART);
    let contradicts = member.difference.is_some_and(|more| more >= CONTRADICTS);
    let share_in_words = |share: f64| if share < NEXT_TO_NONE { "next to none".to_string() } else { percent(share) };
    let share = member.cpu_share.map(|share| format!("it takes {} of the CPU time", share_in_words(share)));
    match (has_no_part && !moved, version.filter(|_| !contradicts && !moved)) {
        (true, Some(version)) => Some(format!("{}, and {version}", share.unwrap_or_default())),
        (true, None) => share,
        (false, version) => version,
    }
}

/// The only member that is not cleared: named, unless the profile says otherwise.
fn left_over(member: &Member, one: usize, members: usize) -> (Option<usize>, Vec<String>) {
    let name = &member.name;
    match member.difference {
        Some(more) if more >= MOST => {
            let others = if members == 1 { "it is the only one" } else { "no other is to blame" };
            let why = format!("{} of the difference between the worlds arises in {name}, and {others}", percent(more));
            (Some(one), vec![why])
        }
        Some(more) => {
            let why = format!("only {name} is left, but just {} of the difference arises in it", percent(more));
            (None, vec![why])
        }
        None => (None, vec![format!("only {name} is left, but nothing else points to it")]),
    }
}

fn cured(member: &Member, tried: &Tried) -> String {
    let far = match tried.place {
        Some(place) if place < 0.95 => format!("brings it {} of the way from bad to good", percent(place)),
        _ => "makes it as fast as the good one".to_string(),
    };
    format!("{}, alone in the bad world, {far}", version(member, tried))
}

/// Which version was run, and where it is from.
fn version(member: &Member, tried: &Tried) -> String {
    let name = &member.name;
    match (&tried.way, tried.version.as_str()) {
        (Way::OtherSuite { suite, .. }, "") => format!("{name} of {suite}"),
        (Way::OtherSuite { suite, .. }, version) => format!("{name} {version} of {suite}"),
        (Way::DropIn { prefix, .. }, _) => format!("a build of {name} {}", prefix.version),
    }
}

fn names(bundle: &[Member], which: &[usize]) -> String {
    let names = which.iter().map(|one| bundle[*one].name.as_str()).collect::<Vec<_>>();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// A part in words, to three digits at most.
fn percent(part: f64) -> String {
    let percent = part * 100.0;
    if percent >= 10.0 { format!("{percent:.0} %") } else { format!("{percent:.1} %") }
}
