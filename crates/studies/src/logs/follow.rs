//! `logs -f`: who asks for what now, told each interval; alarms over it; and in the end what all that came comes down to.

use super::{Request, agents, demand, keep, networks, options, routes, traffic};
use crate::services::{Alarming, now_ms};
use crate::{Console, StudyError};
use alarm::Rules;
use case::{AgentFamily, Claim, Demand, LiveTraffic, Nanos, Ranked, ServiceSample, Traffic};
use import::{Counts, Done, Follower};
use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

/// Files are looked at so often: who watches a screen sees no delay.
const LOOK: Duration = Duration::from_millis(250);
/// Alarms are asked, and figures told, each time that so long has passed.
const INTERVAL: Duration = Duration::from_secs(10);
/// So many intervals are told together: a minute.
const TOLD: usize = 6;

/// Follows logs until it is to end, and says what all that came comes down to. `show` is told of the last minute each interval.
///
/// # Errors
/// Where a file cannot be followed, a file of ranges cannot be read, or the cube cannot be written.
pub fn follow(
    request: &Request,
    duration: Option<Duration>,
    rules: Option<Rules>,
    console: &dyn Console,
    show: &mut dyn FnMut(&LiveTraffic),
) -> Result<Traffic, StudyError> {
    let options = options(request)?;
    let mut follower = Follower::new(import::find(&request.paths)?, options)?;
    let mut alarms = rules.map(|rules| Alarming::of(rules, |deviation| deviation.service.clone()));
    let mut all = follower.counts();
    let mut current = follower.counts();
    let mut told = VecDeque::new();
    let begun = Instant::now();
    let (mut since, mut next) = (begun, begun + INTERVAL);
    loop {
        let end = duration.map(|longest| begun + longest);
        let until = end.map_or(next, |end| end.min(next)).min(Instant::now() + LOOK);
        let is_over = console.next(until.saturating_duration_since(Instant::now())).is_some()
            || end.is_some_and(|end| Instant::now() >= end);
        follower.look(&mut current);
        if !is_over && Instant::now() < next {
            continue;
        }
        let moment = moment(&current, since.elapsed());
        since = Instant::now();
        next = since + INTERVAL;
        let counts = std::mem::replace(&mut current, follower.counts());
        all.merge(counts);
        if let Some(alarms) = &mut alarms {
            alarms.take(&samples(&all, &moment), &[], &[], console);
        }
        told.push_back(moment);
        if told.len() > TOLD {
            told.pop_front();
        }
        show(&LiveTraffic { so_far: demand(&all.tally), ..together(&told) });
        if is_over {
            break;
        }
    }
    if let Some(alarms) = alarms {
        alarms.finish(console);
    }
    let done = Done { files: follower.files().to_vec(), counts: all, outcomes: follower.outcomes() };
    keep(&done, request.cube.as_deref())?;
    Ok(traffic(&done, None))
}

/// What one interval has shown.
fn moment(counts: &Counts, length: Duration) -> LiveTraffic {
    LiveTraffic {
        at_ms: now_ms(),
        length: Nanos(length.as_nanos() as u64),
        total: demand(&counts.tally),
        so_far: Demand::default(),
        malformed: counts.files.iter().map(|file| file.malformed).sum(),
        agents: agents(counts),
        networks: networks(counts, |_| true),
        routes: routes(counts, |_| true),
    }
}

/// Intervals as one. Of each the most frequent are known: whoever is far behind in one of them may be told a little low.
fn together(moments: &VecDeque<LiveTraffic>) -> LiveTraffic {
    let mut sum = LiveTraffic { at_ms: moments.back().map_or(0, |last| last.at_ms), ..LiveTraffic::default() };
    let mut families: BTreeMap<(String, &str), AgentFamily> = BTreeMap::new();
    for moment in moments {
        sum.length += moment.length;
        sum.malformed += moment.malformed;
        add(&mut sum.total, &moment.total);
        for family in &moment.agents {
            let known = families
                .entry((family.name.clone(), claim_word(family.claim)))
                .or_insert_with(|| AgentFamily { demand: Demand::default(), statuses: [0; 6], ..family.clone() });
            add(&mut known.demand, &family.demand);
            known.statuses.iter_mut().zip(family.statuses).for_each(|(sum, more)| *sum += more);
        }
    }
    sum.agents = families.into_values().collect();
    sum.agents.sort_by_key(|family| std::cmp::Reverse(family.demand.requests));
    sum.networks = ranked(moments.iter().flat_map(|moment| &moment.networks));
    sum.routes = ranked(moments.iter().flat_map(|moment| &moment.routes));
    sum
}

fn ranked<'m>(all: impl Iterator<Item = &'m Ranked>) -> Vec<Ranked> {
    let mut sums: BTreeMap<&str, Ranked> = BTreeMap::new();
    for one in all {
        let sum = sums.entry(&one.name).or_insert_with(|| Ranked { name: one.name.clone(), ..Ranked::default() });
        add(&mut sum.demand, &one.demand);
        sum.missed += one.missed;
    }
    let mut ranked = sums.into_values().collect::<Vec<_>>();
    ranked.sort_by_key(|one| std::cmp::Reverse(one.demand.requests));
    ranked
}

fn add(sum: &mut Demand, more: &Demand) {
    sum.requests += more.requests;
    sum.bytes = sum.bytes.saturating_add(more.bytes);
    sum.took_ns = sum.took_ns.saturating_add(more.took_ns);
}

/// What each agent that was ever seen did in an interval, as alarms know services: those that did nothing, too, so that an alarm
/// about them can end.
fn samples(all: &Counts, moment: &LiveTraffic) -> Vec<ServiceSample> {
    let empty = |name: &str| ServiceSample {
        at_ms: moment.at_ms,
        length: moment.length,
        service: name.to_string(),
        counts_requests: true,
        processes: 1,
        ..ServiceSample::default()
    };
    let mut samples: BTreeMap<String, ServiceSample> = BTreeMap::new();
    for family in all.families().iter().filter(|family| family.tally.requests > 0) {
        let name = named(&family.name, super::claim(family));
        samples.entry(name.clone()).or_insert_with(|| empty(&name));
    }
    for family in &moment.agents {
        let name = named(&family.name, family.claim);
        let sample = samples.entry(name.clone()).or_insert_with(|| empty(&name));
        sample.requests += family.demand.requests;
        sample.sent = sample.sent.saturating_add(family.demand.bytes);
        sample.answering += Nanos(family.demand.took_ns);
        sample.failures += family.statuses[5];
    }
    samples.into_values().collect()
}

/// Who only calls himself so is somebody else.
fn named(name: &str, claim: Claim) -> String {
    if claim == Claim::Forged { format!("{name} ({})", claim_word(claim)) } else { name.to_string() }
}

fn claim_word(claim: Claim) -> &'static str {
    match claim {
        Claim::Unchecked => "",
        Claim::Verified => "verified",
        Claim::Forged => "forged",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(requests: &[(&str, u64)]) -> LiveTraffic {
        let family = |(name, requests): &(&str, u64)| AgentFamily {
            name: (*name).into(),
            demand: Demand { requests: *requests, ..Demand::default() },
            statuses: [0, 0, *requests, 0, 0, 0],
            ..AgentFamily::default()
        };
        let total = Demand { requests: requests.iter().map(|(_, requests)| requests).sum(), ..Demand::default() };
        LiveTraffic {
            length: Nanos(10),
            total,
            agents: requests.iter().map(family).collect(),
            ..LiveTraffic::default()
        }
    }

    #[test]
    fn intervals_are_told_together_and_the_most_frequent_first() {
        let sum = together(&VecDeque::from([of(&[("a", 5), ("b", 1)]), of(&[("b", 9)])]));
        let agents = sum.agents.iter().map(|one| (one.name.as_str(), one.demand.requests, one.statuses[2]));
        assert_eq!(agents.collect::<Vec<_>>(), [("b", 10, 10), ("a", 5, 5)]);
        assert_eq!((sum.total.requests, sum.length), (15, Nanos(20)));
    }
}
