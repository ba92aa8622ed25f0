//! What is said of a round at its end.

use super::super::names::Spent;
use super::super::state::RoundState;
use super::super::store::Begun;
use super::super::tally::Counts;
use super::super::worker::Done;
use super::Plan;
use crate::tally::Tally;
use case::{FeedCost, FeedPhase, FeedRound, LoadPhase, PastRound, Phase, PortUse};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use std::time::Duration;

/// Everything that is known of a round.
pub(super) struct Whole {
    pub begun: Begun,
    pub done_before: u64,
    pub is_finished: bool,
    pub wall: Duration,
    /// What the process had used before.
    pub cpu: Duration,
    pub counts: Counts,
    pub done: Vec<Done>,
    pub spent: Spent,
}

/// CPU time of this process so far.
pub(super) fn processor() -> Duration {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else { return Duration::ZERO };
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Duration::from_micros(u64::try_from(micros).unwrap_or_default())
}

/// The most memory that was resident so far, in bytes.
fn peak_memory() -> u64 {
    let kilobytes = getrusage(UsageWho::RUSAGE_SELF).map_or(0, |usage| usage.max_rss());
    u64::try_from(kilobytes).unwrap_or_default() << 10
}

/// The document of a round, and what the database keeps of it.
pub(super) fn document(plan: &Plan, whole: Whole) -> (FeedRound, RoundState) {
    let Whole { begun, done_before, is_finished, wall, cpu, mut counts, done, spent } = whole;
    let mut tally = Tally::new(0);
    let (mut looked_up, mut origins, mut ports) = (0, 0, PortUse::default());
    for one in done {
        tally.merge(&one.tally);
        counts.merge(one.counts);
        looked_up += one.looked_up;
        origins += one.origins;
        ports = super::super::ports::worse(ports, one.ports);
    }
    let cpu = processor().saturating_sub(cpu);
    let settled = counts.outcomes.all();
    let phases = tally.phases();
    let handshakes = |wanted: Phase| {
        let of = phases.iter().filter(|one| one.phase == wanted);
        of.map(|one| one.time.count).sum::<u64>()
    };
    let looking_up = (!spent.times.is_empty()).then(|| LoadPhase { phase: Phase::LookUp, time: spent.times.summary() });
    let (full, resumed) = (handshakes(Phase::TlsFull), handshakes(Phase::TlsResumed));
    let round = FeedRound {
        number: begun.number,
        began_s: begun.began_s,
        finished: is_finished,
        done_before,
        wall_ns: nanos(wall),
        cpu_ns: nanos(cpu),
        peak_memory_bytes: peak_memory(),
        feeds: plan.addresses.len() as u64,
        origins,
        feeds_per_second: settled as f64 / wall.as_secs_f64().max(1e-9),
        outcomes: counts.outcomes,
        new_entries: counts.new_entries,
        requests: tally.requests,
        received_bytes: tally.received,
        sent_bytes: tally.sent,
        inflated_bytes: counts.inflated,
        opened: tally.opened,
        handshakes_full: full,
        handshakes_resumed: resumed,
        looked_up,
        costs: costs(&counts, cpu, spent.cpu, settled),
        phases: looking_up.into_iter().chain(phases).collect(),
        statuses: tally.statuses(),
        errors: counts.errors(),
        slowest: counts.slowest(),
        ports,
    };
    let past = PastRound {
        number: begun.number,
        began_s: begun.began_s,
        wall_ns: round.wall_ns,
        cpu_ns: round.cpu_ns,
        interrupted: begun.is_continued,
        feeds: round.feeds,
        outcomes: round.outcomes,
        new_entries: round.new_entries,
        received_bytes: round.received_bytes,
        handshakes_full: full,
        handshakes_resumed: resumed,
    };
    (round, RoundState { list: plan.list.clone(), is_finished, past })
}

fn costs(counts: &Counts, whole: Duration, looking_up: Duration, settled: u64) -> Vec<FeedCost> {
    let named = [
        (FeedPhase::LookUp, looking_up),
        (FeedPhase::Connect, counts.spent(FeedPhase::Connect)),
        (FeedPhase::Tls, counts.spent(FeedPhase::Tls)),
        (FeedPhase::Transfer, counts.spent(FeedPhase::Transfer)),
        (FeedPhase::Inflate, counts.spent(FeedPhase::Inflate)),
        (FeedPhase::Parse, counts.spent(FeedPhase::Parse)),
    ];
    let rest = whole.saturating_sub(named.iter().map(|(_, time)| *time).sum());
    let one = |(phase, time): (FeedPhase, Duration)| FeedCost {
        phase,
        cpu_ns: nanos(time),
        each_ns: nanos(time) / settled.max(1),
    };
    named.into_iter().chain([(FeedPhase::Other, rest)]).map(one).collect()
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
