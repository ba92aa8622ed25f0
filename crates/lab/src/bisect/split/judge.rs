//! What other versions and the profile say of a bundle. Pure.

use super::{Member, Split, Tried, Way};
use case::{Cleared, ProbeResult, Untested};

/// From this part of the difference on, a version that stays bad clears nobody: it may be slow in the same way.
const CONTRADICTS: f64 = 0.2;
/// Who is left over must have this part of the difference, where it is known.
const MOST: f64 = 0.5;
/// A version alone that goes so far from bad to good makes it mostly good.
const MOSTLY_GOOD: f64 = 0.5;

/// Which member it is, if that can be said; which it is not; and of which nothing is known.
pub fn judge(bundle: &[Member], tried: &[Tried]) -> Split {
    let cures = |factor: usize| tried.iter().find(|tried| tried.way.factor() == factor && is_cure(tried));
    let curing = (0..bundle.len()).filter(|factor| cures(*factor).is_some()).collect::<Vec<_>>();
    let open = (0..bundle.len()).filter(|factor| cures(*factor).is_none()).collect::<Vec<_>>();
    let (mut cleared, mut untested) = (Vec::new(), Vec::new());
    for factor in open {
        let member = &bundle[factor];
        let (name, share) = (member.name.clone(), member.cpu_share.unwrap_or_default());
        match switched(member, &of(tried, factor)) {
            Switched::StaysBad(why) => cleared.push(Cleared { factor: name, why, share }),
            Switched::Untested(why) => untested.push(Untested { factor: name, why, share }),
        }
    }
    let is_cleared = |factor: &usize| cleared.iter().any(|one: &Cleared| one.factor == bundle[*factor].name);
    let left = (0..bundle.len()).filter(|factor| !is_cleared(factor)).collect::<Vec<_>>();
    let (found, mut reasons) = match (curing.as_slice(), left.as_slice()) {
        ([one], _) => (Some(*one), cures(*one).map(|tried| cured(&bundle[*one], tried)).into_iter().collect()),
        ([], [one]) => left_over(&bundle[*one], *one, bundle.len()),
        ([], []) => (None, vec!["each member alone is cleared; they may be slow only together".to_string()]),
        ([], left) => (None, vec![undecided(bundle, left)]),
        (several, _) => (None, vec![format!("replacing any one of {} makes it fast again", names(bundle, several))]),
    };
    if let Some(share) = found.and_then(|one| bundle[one].cpu_share.filter(|share| *share >= MOST)) {
        let name = found.map_or("", |one| bundle[one].name.as_str());
        reasons.push(format!("{} of the CPU time in the bad world is {name}'s", percent(share)));
    }
    untested.retain(|one| found.is_none_or(|found| bundle[found].name != one.factor));
    Split { split: found.map(|one| bundle[one].name.clone()).unwrap_or_default(), reasons, cleared, untested }
}

/// What running another version of a member alone says of it.
enum Switched {
    /// It is not to blame, and why.
    StaysBad(String),
    /// Nothing, and why.
    Untested(String),
}

fn of(tried: &[Tried], factor: usize) -> Vec<&Tried> {
    tried.iter().filter(|tried| tried.way.factor() == factor).collect()
}

/// Whether a version alone makes it good, or mostly.
fn is_cure(tried: &Tried) -> bool {
    let is_far = tried.place.is_some_and(|place| place >= MOSTLY_GOOD);
    tried.result == ProbeResult::Good || (tried.result == ProbeResult::Unclear && is_far)
}

/// A member is cleared by a run in which it alone was another version; a share of the samples clears nobody.
fn switched(member: &Member, tried: &[&Tried]) -> Switched {
    let ran = |result: ProbeResult| tried.iter().find(|tried| tried.result == result);
    if let Some(moved) = ran(ProbeResult::Unclear) {
        return Switched::Untested(format!("the runs with {} do not decide", version(member, moved)));
    }
    if let Some(stayed) = ran(ProbeResult::Bad) {
        let stays = format!("with {} the bad world stays slow", version(member, stayed));
        return match member.difference.filter(|more| *more >= CONTRADICTS) {
            Some(more) => Switched::Untested(format!("{stays}, but {} of the difference arises in it", percent(more))),
            None => Switched::StaysBad(stays),
        };
    }
    Switched::Untested(if tried.is_empty() {
        "no other version of it was there to be run alone".to_string()
    } else {
        "programs do not start with another version of it alone".to_string()
    })
}

/// Several members are left: who the profile points to, if it does, accuses nobody.
fn undecided(bundle: &[Member], left: &[usize]) -> String {
    let share = |one: usize| bundle[one].difference.unwrap_or_default();
    match left.iter().find(|one| share(**one) >= MOST) {
        Some(&one) => {
            let name = &bundle[one].name;
            format!("{} of the difference arises in {name}, which was not switched alone", percent(share(one)))
        }
        None => format!("the trials do not decide between {}", names(bundle, left)),
    }
}

/// The only member that is not cleared: named, unless the profile says otherwise.
fn left_over(member: &Member, one: usize, members: usize) -> (Option<usize>, Vec<String>) {
    let name = &member.name;
    match member.difference {
        Some(more) if more >= MOST => {
            let others = if members == 1 { "it is the only one" } else { "the others, switched alone, change nothing" };
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
