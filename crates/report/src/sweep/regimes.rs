//! What a recorded run of each stretch of values was found to suffer from, and what changes from one to the next.

use super::value::label;
use crate::style::Style;
use crate::text::{clean, wrap};
use case::{Cost, Finding, Nanos, Regime, Share, Status, Sweep};

/// A cost below this share is no cost to name.
const LEAST_SHARE: f64 = 0.005;
/// What is found below the first few costs less than they do.
const MOST_FINDINGS: usize = 5;

/// The stretches, by value; empty where none was recorded.
pub(super) fn regimes(sweep: &Sweep, style: Style) -> String {
    if sweep.regimes.is_empty() {
        return String::new();
    }
    let has_findings = sweep.regimes.iter().any(|regime| standing(regime).next().is_some());
    let suspicions = if has_findings { " (suspicions, not tried)" } else { "" };
    let mut text = format!("What recordings show{suspicions}:\n");
    for (index, regime) in sweep.regimes.iter().enumerate() {
        if let Some(before) = index.checked_sub(1).and_then(|before| sweep.regimes.get(before)) {
            text += &say_change(sweep, before, regime, style);
        }
        text += &stretch(sweep, regime, style);
    }
    text
}

fn stretch(sweep: &Sweep, regime: &Regime, style: Style) -> String {
    let (from, to, at) = (label(sweep, regime.from), label(sweep, regime.to), label(sweep, regime.at));
    let place = if from == to { from } else { format!("{from} to {to}, recorded at {at}") };
    let summary = clean(&regime.summary);
    let found = standing(regime).take(MOST_FINDINGS).map(|finding| told(sweep, finding)).collect::<Vec<_>>();
    let said = if found.is_empty() { format!("no cause found. {summary}") } else { found.join(" ") };
    let more = if regime.case.is_empty() {
        String::new()
    } else {
        wrap(&format!("whyslow report {}", clean(&regime.case)), style.columns(), "    More: ", "      ")
    };
    wrap(&format!("{place}: {said}"), style.columns(), "  ", "    ") + &more
}

pub(crate) fn standing(regime: &Regime) -> impl Iterator<Item = &Finding> {
    regime.findings.iter().filter(|finding| finding.status != Status::Refuted)
}

pub(crate) fn told(sweep: &Sweep, finding: &Finding) -> String {
    let title = clean(&finding.title);
    let end = if title.ends_with('.') { "" } else { "." };
    format!("{} {}: {title}{end}", clean(&finding.name), costs(sweep, &finding.cost))
}

fn costs(sweep: &Sweep, cost: &Cost) -> String {
    let per = if sweep.metric.contains("exchange") { "a request" } else { "a run" };
    let is_processor = cost.share_of_cpu > cost.share_of_wall;
    if is_processor && cost.share_of_cpu >= LEAST_SHARE {
        let (time, share) = (Nanos(cost.cpu_ns_per_exchange), Share(cost.share_of_cpu));
        return format!("costs up to {time} of processor time {per} ({share})");
    }
    if cost.share_of_wall < LEAST_SHARE {
        return "is suspected".into();
    }
    format!("costs up to {} {per} ({})", Nanos(cost.ns_per_exchange), Share(cost.share_of_wall))
}

/// What ends between two stretches, and what begins; nothing where nothing was found on either side.
fn say_change(sweep: &Sweep, before: &Regime, after: &Regime, style: Style) -> String {
    if standing(before).chain(standing(after)).next().is_none() {
        return String::new();
    }
    wrap(&change(sweep, before, after), style.columns(), "  ", "  ")
}

pub(crate) fn change(sweep: &Sweep, before: &Regime, after: &Regime) -> String {
    let only_in = |one: &Regime, other: &Regime| {
        let own = standing(one).filter(|finding| standing(other).all(|another| another.id != finding.id));
        own.map(|finding| clean(&finding.name)).collect::<Vec<_>>()
    };
    let (ends, begins) = (only_in(before, after), only_in(after, before));
    let place = format!("From {} to {}", label(sweep, before.to), label(sweep, after.from));
    match (ends.is_empty(), begins.is_empty()) {
        (true, true) => format!("{place}: the same is found on both sides."),
        (false, true) => format!("{place}: {} ends.", ends.join(" and ")),
        (true, false) => format!("{place}: {} begins.", begins.join(" and ")),
        (false, false) => format!("{place}: {} ends, {} begins.", ends.join(" and "), begins.join(" and ")),
    }
}
