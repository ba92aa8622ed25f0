//! What speaks for a culprit: that switching it both ways makes and unmakes the difference, what splits a bundle, and who
//! is cleared.

use super::axis::figure_at;
use super::label::{is_of_commits, names};
use crate::figure::{pair, range, three};
use crate::style::Style;
use crate::text::{clean, counted, wrap};
use case::{Bisection, Cleared, Culprit, Probe, ProbeKind, ProbeResult, Share};

/// The block; empty without a culprit.
pub(super) fn grounds(bisection: &Bisection, style: Style) -> String {
    let Some(culprit) = &bisection.culprit else { return String::new() };
    let mut text = wrap(&both_ways(bisection, culprit), style.columns(), "", "");
    for reason in &culprit.reasons {
        text += &wrap(&clean(reason), style.columns(), "  - ", "    ");
    }
    for one in &culprit.cleared {
        text += &wrap(&cleared(one), style.columns(), "  - cleared: ", "    ");
    }
    text
}

/// What is known of both directions, in a sentence or two.
pub(crate) fn both_ways(bisection: &Bisection, culprit: &Culprit) -> String {
    let (good, bad) = (clean(&bisection.good.name), clean(&bisection.bad.name));
    let cure = names(&culprit.cure);
    let gain = &culprit.gain;
    if is_of_commits(bisection) {
        let (before, with) = pair(&gain.metric, gain.a, gain.b);
        let interval = range(gain.low, gain.high);
        return format!("Before it {before}, with it {with} ({} times, {interval}).", three(gain.ratio));
    }
    let cured = if gain.pairs > 0 {
        let (cured, before) = pair(&gain.metric, gain.a, gain.b);
        let interval = range(gain.low, gain.high);
        format!(
            "With only {cure} from {good}, {bad} is fast: {cured} instead of {before} ({} times, {interval}; {}).",
            three(gain.ratio),
            in_turns(gain.pairs)
        )
    } else {
        format!("With only {cure} from {good}, {bad} is fast.")
    };
    let removal = bisection.probes.iter().rfind(|probe| probe.kind == ProbeKind::Removal);
    match removal {
        Some(removal) => {
            let confirmed = if removal.result == ProbeResult::Bad { "Confirmed both ways. " } else { "" };
            format!("{confirmed}{cured} {}", without(bisection, removal, &good))
        }
        None => format!("{cured} The other way, all but that from {good}, was not tried."),
    }
}

/// What a figure rests on.
fn in_turns(pairs: u32) -> String {
    format!("{} of runs in turns", counted(pairs.into(), "pair"))
}

fn without(bisection: &Bisection, removal: &Probe, good: &str) -> String {
    let figure = figure_at(bisection, removal.place).into_iter();
    let pairs = (removal.pairs > 0).then(|| in_turns(removal.pairs));
    let at = figure.chain(pairs).collect::<Vec<_>>().join("; ");
    let at = if at.is_empty() { at } else { format!(" ({at})") };
    match removal.result {
        ProbeResult::Bad => format!("With all else from {good} but not that, it stays slow{at}."),
        ProbeResult::Good => format!("But with all else from {good} and not that, it is fast, too{at}."),
        ProbeResult::Unclear => format!("With all else from {good} but not that, it is not clear{at}."),
        ProbeResult::Untestable => {
            let why = clean(&removal.note);
            let why = if why.is_empty() { "programs do not start so".to_string() } else { why };
            format!("The other way could not be tried: {}.", why.trim_end_matches('.'))
        }
    }
}

/// Why a member is not to blame.
pub(crate) fn cleared(one: &Cleared) -> String {
    let (share, why) = (Share(one.share).to_string(), clean(&one.why));
    let is_new = one.share > 0.0 && !why.contains(&share);
    let share = if is_new { format!(" ({share} of the processor time)") } else { String::new() };
    let why = if why.is_empty() { String::new() } else { format!(": {why}") };
    format!("{}{share}{why}", clean(&one.factor))
}
