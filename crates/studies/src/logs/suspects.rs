//! Which parts of the traffic could be turned away: crawlers that are a large part of it, who only claims to be one, and
//! programs whose traffic has begun or grown. Browsers are visitors, and programs that were there all along do their work.

use super::cost::Costs;
use super::timeline::Timeline;
use super::{claim, demand, kind, networks, onset, routes, rules};
use case::{AgentKind, Claim, Suspect, TrafficFile};
use import::{Counts, Family};

/// A smaller part of requests, bytes and time is not worth a rule.
const LEAST_SHARE: f64 = 0.05;
/// Who lies is worth one sooner.
const LEAST_FORGED: f64 = 0.01;
/// So many are named.
const MOST_SUSPECTS: usize = 5;
/// So many networks and routes are named of each.
const MOST_NAMED: usize = 10;
/// Fewer requests than this are no traffic.
const LEAST_REQUESTS: u64 = 100;

/// The suspects, those first whose absence would save most.
pub fn find(counts: &Counts, timeline: &Timeline, files: &[TrafficFile], costs: Option<&Costs>) -> Vec<Suspect> {
    let families = counts.families().iter().enumerate();
    let mut suspects: Vec<Suspect> =
        families.filter_map(|(number, family)| of_family(number as u16, family, counts, timeline, files)).collect();
    suspects.sort_by(|one, other| largest_share(other).total_cmp(&largest_share(one)));
    suspects.truncate(MOST_SUSPECTS);
    for suspect in &mut suspects {
        let is_it = |family: &Family| {
            family.name == suspect.name && kind(family) == suspect.kind && claim(family) == suspect.claim
        };
        let number = counts.families().iter().position(is_it);
        suspect.cpu = costs.zip(number).and_then(|(costs, number)| costs.of_family(counts, number as u16));
    }
    suspects
}

fn largest_share(suspect: &Suspect) -> f64 {
    suspect.share_of_requests.max(suspect.share_of_bytes).max(suspect.share_of_time)
}

fn of_family(
    number: u16,
    family: &Family,
    counts: &Counts,
    timeline: &Timeline,
    files: &[TrafficFile],
) -> Option<Suspect> {
    let (kind, claim) = (kind(family), claim(family));
    if kind == AgentKind::Browser || family.tally.requests < LEAST_REQUESTS {
        return None;
    }
    let share = |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
    let (part, whole) = (&family.tally, &counts.tally);
    let suspect = Suspect {
        name: family.name.clone(),
        kind,
        claim,
        addresses: family.addresses(),
        demand: demand(part),
        share_of_requests: share(part.requests, whole.requests),
        share_of_bytes: share(part.bytes, whole.bytes),
        share_of_time: share(part.took_ns, whole.took_ns),
        ..Suspect::default()
    };
    let least = if claim == Claim::Forged { LEAST_FORGED } else { LEAST_SHARE };
    if largest_share(&suspect) < least {
        return None;
    }
    let onset = onset::find(&timeline.requests(&family.series), timeline, files);
    if kind != AgentKind::Crawler && claim != Claim::Forged && onset.is_none() {
        return None;
    }
    let (mut networks, mut routes) = (networks(counts, |of| of == number), routes(counts, |of| of == number));
    networks.truncate(MOST_NAMED);
    routes.truncate(MOST_NAMED);
    let rules = rules::rules(&family.name, kind, claim, &networks);
    Some(Suspect { onset, networks, routes, rules, ..suspect })
}
