//! From evidence to the answer: which findings count, in which order, and the sentences about the whole.

use crate::Options;
use crate::analysis::Analysis;
use crate::analysis::ledger;
use crate::behind::{self, Behind};
use crate::blind::not_looked_for;
use crate::detectors::{ALL, Detector, Found};
use crate::heaviest::{in_order, located_outside};
use crate::overlap;
use crate::side_by_side::{both, each};
use crate::tail;
use crate::threads::ThreadRows;
use crate::troubles;
use crate::views;
use crate::waits;
use crate::whole_run;
use case::tables::Loss;
use case::{
    AccountGroup, Answer, Cost, CpuUse, Few, Finding, Kind, LossTotals, Moment, Nanos, RequestWaits, SCHEMA, Share,
    Status, Verdict, standing,
};
use std::collections::BTreeMap;

/// A finding under this share of the exchanges' wall or CPU time is not worth a change.
const WORTH_A_CHANGE: f64 = 0.05;

/// CPU time that is less than this share of the run's wall time burns nothing: of a program that mostly waits, 5 %
/// of its CPU time are microseconds.
const WORTH_OF_A_PROCESSOR: f64 = 0.01;

/// Draws the answer from the evidence.
pub fn draw(analysis: &Analysis, case_path: &str, options: Options) -> Answer {
    let manifest = &analysis.recording.manifest;
    let wanted: Vec<&'static Detector> = ALL.iter().filter(|one| one.on_the_wire || !analysis.is_capture()).collect();
    let behind = behind::all(analysis);
    let (found, answer) = both(|| all_found(analysis, &behind, &wanted), || without_findings(analysis, &behind));
    let (findings, stalls) = findings(analysis, wanted.into_iter().zip(found), options);
    Answer {
        schema: SCHEMA,
        command: manifest.command.clone(),
        case: case_path.to_string(),
        wall_ns: analysis.wall(),
        exchanges: analysis.exchanges.len() as u64,
        subject_exit: manifest.subject.status(),
        verdict: if findings.is_empty() { Verdict::None } else { Verdict::Suspected },
        summary: summary(analysis, &findings),
        tail: tail::find(analysis, &stalls),
        findings,
        ledger: ledger::of_run(analysis),
        whole_run: whole_run::counted(analysis.recording),
        losses: losses(analysis),
        missing: manifest.missing.clone(),
        ..answer
    }
}

/// What each detector found: in the clients' requests, and in those behind them that take most of their time.
fn all_found(analysis: &Analysis, behind: &[Behind], wanted: &[&'static Detector]) -> Vec<Vec<Found>> {
    let mut found: Vec<Vec<Found>> =
        each(wanted, |one| (one.detect)(analysis)).into_iter().map(|one| one.into_iter().collect()).collect();
    for behind in behind {
        for (all, one) in found.iter_mut().zip(each(wanted, |one| behind.found(one))) {
            all.extend(one);
        }
    }
    found
}

/// How many CPUs the recorded programs used from the first request to the last answer.
fn cpu_use(analysis: &Analysis) -> Option<CpuUse> {
    let exchanges = &analysis.exchanges;
    let (from, to) = (exchanges.iter().map(|one| one.start).min()?, exchanges.iter().map(|one| one.end).max()?);
    let threads = analysis.threads.all().iter();
    // What is not known to be off a CPU counts as on one there: never more than the scheduler says of the thread's whole life.
    let of_thread = |thread: &ThreadRows| {
        let (outside, within) = analysis.threads.on_processor(thread.tid, from, to);
        (outside + within).min(thread.on_processor)
    };
    let cpu: u64 = threads.map(of_thread).sum();
    let cpus = analysis.recording.manifest.host.processors;
    (to > from).then(|| CpuUse { used: cpu as f64 / (to - from) as f64, cpus })
}

/// What takes long and has nothing to do with what is found.
fn without_findings(analysis: &Analysis, behind: &[Behind]) -> Answer {
    let [heaviest, next_heaviest] = in_order(analysis);
    let queues =
        waits::queue(analysis).cloned().into_iter().chain(behind.iter().filter_map(|behind| behind.queue(analysis)));
    Answer {
        request: request(analysis),
        queue: queues.reduce(|most, one| if one.share() > most.share() { one } else { most }),
        troubles: troubles::find(analysis),
        cpu_use: cpu_use(analysis),
        waits: waits::tree(analysis),
        heaviest,
        next_heaviest,
        not_looked_for: not_looked_for(analysis),
        ..Answer::default()
    }
}

/// Who waited for whom in the exchange that the page shows first.
fn request(analysis: &Analysis) -> Option<RequestWaits> {
    let index = views::first_shown(analysis)?;
    let tree = waits::trees_of(analysis, &[index]).pop().flatten()?;
    Some(RequestWaits { number: index as u64 + 1, tree })
}

/// What counts of all that was found, of each detector the first, and the stretches that it is about.
fn findings(
    analysis: &Analysis,
    all: impl Iterator<Item = (&'static Detector, Vec<Found>)>,
    options: Options,
) -> (Vec<Finding>, Vec<(u64, u64)>) {
    let is_dear = |cost: &Cost| dearness(analysis, cost).max(share_behind_held(analysis, cost)) >= WORTH_A_CHANGE;
    let worth = |cost: &Cost| options.all || is_dear(cost);
    let mut found: Vec<(&Detector, Found)> = Vec::new();
    for (detector, ones) in all {
        let counts = |one: &Found| {
            worth(&analysis.cost(&one.saving))
                && !overlap::is_consequence(detector, &found)
                && !overlap::is_explained(detector, one, &found)
        };
        if let Some(one) = ones.into_iter().find(counts) {
            found.push((detector, one));
        }
    }
    let stalls = found.iter().flat_map(|(_, one)| one.stalls.iter().copied()).collect();
    let mut findings: Vec<Finding> =
        found.into_iter().map(|(detector, one)| finding(analysis, detector, one)).collect();
    // The sort is stable: of two equally dear, the more specific stays first.
    findings.sort_by(|one, other| rank(analysis, other).total_cmp(&rank(analysis, one)));
    (findings, stalls)
}

/// What only says where the time goes counts so much beside a cause, which says what to change.
const OF_AN_OBSERVATION: f64 = 0.5;

/// By the clock that the user waits for; what takes CPU time alone comes after all that somebody waits for.
fn rank(analysis: &Analysis, finding: &Finding) -> f64 {
    let weight = if finding.kind == Kind::Observation { OF_AN_OBSERVATION } else { 1.0 };
    match finding.cost.share_of_wall {
        share if share >= WORTH_A_CHANGE => 1.0 + weight * share,
        _ => weight * dearness(analysis, &finding.cost),
    }
}

/// The larger of a cost's shares of wall and of CPU time, the latter where it amounts to something.
fn dearness(analysis: &Analysis, cost: &Cost) -> f64 {
    let in_all = cost.cpu_ns_per_exchange as f64 * analysis.exchanges.len().max(1) as f64;
    let burns = in_all >= WORTH_OF_A_PROCESSOR * analysis.wall() as f64;
    if burns { cost.share_of_wall.max(cost.share_of_cpu) } else { cost.share_of_wall }
}

/// Less than this of all of the exchanges' time is not told beside what holds them: once that is gone, a second pass looks for
/// what is left.
const TOLD_BESIDE_HELD: f64 = 0.01;

/// A cost's share of what is left of the exchanges once nothing is held back for want of a full segment or an ACK: such stalls
/// last 40 ms each and make all else look small, and they are a line's change away.
fn share_behind_held(analysis: &Analysis, cost: &Cost) -> f64 {
    let count = analysis.exchanges.len().max(1) as u64;
    let whole = analysis.exchange_wall().saturating_add(cost.between_ns_per_exchange.saturating_mul(count));
    let left = whole.saturating_sub(analysis.held_wall());
    let share = cost.ns_per_exchange.saturating_mul(count) as f64 / left.max(1) as f64;
    if cost.share_of_wall >= TOLD_BESIDE_HELD { share } else { 0.0 }
}

fn finding(analysis: &Analysis, detector: &Detector, found: Found) -> Finding {
    Finding {
        id: detector.page.id.to_string(),
        name: detector.page.name.to_string(),
        kind: detector.kind,
        status: Status::Suspected,
        title: found.title,
        what: found.what,
        mechanism: found.mechanism,
        observed: found.observed,
        cost: Cost { few: few(analysis, found.saving.affected, &found.stalls), ..analysis.cost(&found.saving) },
        place: found.place.places,
        place_share: found.place.share,
        remedy: found.remedy,
        evidence: found.rows,
        caveats: caveats(analysis),
        ..Finding::default()
    }
}

/// What happens to fewer than one exchange in so many is told by itself: a mean over all is not what any of them waits.
const FEW: usize = 10;

/// Stalls that few exchanges have, where that is so.
fn few(analysis: &Analysis, affected: u64, stalls: &[(u64, u64)]) -> Option<Few> {
    let all = analysis.exchanges.len();
    if stalls.is_empty() || stalls.len() * FEW > all || affected * FEW as u64 > all as u64 {
        return None;
    }
    // Others that were under way meanwhile need not be touched.
    let (start, end) = (stalls.iter().map(|stall| stall.0).min()?, stalls.iter().map(|stall| stall.1).max()?);
    let first = analysis.exchanges.iter().position(|exchange| start < exchange.end)?;
    let last = analysis.exchanges.iter().rposition(|exchange| exchange.start < end)?;
    let when = match () {
        () if last * FEW < all => Moment::Start,
        () if (all - 1 - first) * FEW < all => Moment::End,
        () => Moment::Throughout,
    };
    let mut lengths: Vec<u64> = stalls.iter().map(|(start, end)| end.saturating_sub(*start)).collect();
    lengths.sort_unstable();
    Some(Few { count: stalls.len() as u64, ns: lengths[lengths.len() / 2], when })
}

/// What was lost while the findings' rows were recorded. They spread over the whole run, so every loss concerns them.
fn caveats(analysis: &Analysis) -> Vec<String> {
    let mut lost: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    let worth_saying = |row: &&Loss| row.count > 0 && (row.table != "stacks" || many_stacks_lost(analysis));
    for row in analysis.recording.losses.iter().filter(worth_saying) {
        *lost.entry((&row.table, &row.reason)).or_default() += row.count;
    }
    let mut caveats: Vec<String> = lost
        .into_iter()
        .map(|((table, reason), count)| match table {
            "stacks" => format!("{count} stacks are missing or truncated ({reason}): some places may lack callers."),
            table => format!("{count} rows of {table} were lost ({reason}): counts are lower bounds."),
        })
        .collect();
    if !analysis.recording.manifest.closed {
        caveats.push("The recording was cut short: the last rows may be missing.".to_string());
    }
    caveats
}

/// A stack that was not walked to its root costs a place its outermost callers, no count. Of the samples alone more than
/// this share must be concerned before a finding's place is doubtful; the answer's losses tell the number in any case.
const DOUBTFUL_STACKS: f64 = 0.05;

fn many_stacks_lost(analysis: &Analysis) -> bool {
    losses(analysis).stacks as f64 > DOUBTFUL_STACKS * analysis.recording.samples.len().max(1_000) as f64
}

fn losses(analysis: &Analysis) -> LossTotals {
    let mut totals = LossTotals::default();
    for row in &analysis.recording.losses {
        if row.table == "stacks" { totals.stacks += row.count } else { totals.events += row.count }
    }
    totals
}

/// Where the time went, in one or two sentences.
fn summary(analysis: &Analysis, findings: &[Finding]) -> String {
    let between: f64 = analysis.accounts.run.iter().filter(|(account, _)| account.is_outside()).map(|(_, ns)| ns).sum();
    let mostly_between = between * 2.0 > analysis.wall() as f64;
    standing(findings)
        + &match (analysis.exchanges.len(), mostly_between) {
            (0, _) => of_the_run(analysis),
            (count, true) => of_the_time_between(analysis, count, between),
            _ => of_the_exchanges(analysis),
        }
}

fn of_the_run(analysis: &Analysis) -> String {
    let ledger = ledger::of_run(analysis);
    let Some(largest) = ledger.accounts.first() else { return "Nothing was recorded.".to_string() };
    let share = Nanos(largest.ns).share_of(Nanos(ledger.total));
    let name = largest.account.name_of_run();
    format!("No requests were seen. The largest part of the {}, {share}, is '{name}'.", Nanos(ledger.total))
}

fn of_the_time_between(analysis: &Analysis, count: usize, between: f64) -> String {
    let outside: Vec<_> = analysis.accounts.run.iter().filter(|(account, _)| account.is_outside()).collect();
    let Some((account, length)) = outside.into_iter().max_by(|one, other| one.1.total_cmp(other.1)) else {
        return of_the_exchanges(analysis);
    };
    let wall = analysis.wall().max(1) as f64;
    let requests = if count == 1 { "the one request".to_string() } else { format!("its {count} requests") };
    format!(
        "{} of the {} passed outside {requests}; the largest part, {}, is '{}'{}.",
        Share(between / wall),
        Nanos(analysis.wall()),
        Share(length / wall),
        account.fact(analysis).name_of_run(),
        located_outside(analysis, *account).in_words(),
    )
}

fn of_the_exchanges(analysis: &Analysis) -> String {
    let mut classes: BTreeMap<AccountGroup, f64> = BTreeMap::new();
    for (account, length) in &analysis.accounts.exchanges {
        *classes.entry(account.group()).or_default() += length;
    }
    let total: f64 = classes.values().sum();
    let Some((&group, &length)) = classes.iter().max_by(|one, other| one.1.total_cmp(other.1)) else {
        return "The requests took no time.".to_string();
    };
    let count = analysis.exchanges.len();
    let mean = Nanos(analysis.exchange_wall() / count.max(1) as u64);
    let share = Share(length / total.max(1.0));
    let of = if count == 1 {
        format!("The one request took {mean}")
    } else {
        format!("{count} requests took {mean} each on average")
    };
    format!("{of}; {share} of that was {}.", words(group))
}

fn words(group: AccountGroup) -> &'static str {
    match group {
        AccountGroup::ClientCpu => "CPU time of the client",
        AccountGroup::ServerCpu => "CPU time of the server",
        AccountGroup::RunDelay => "waiting for a CPU",
        AccountGroup::ClientBlocked => "time the client spent blocked",
        AccountGroup::ServerBlocked => "time the server spent blocked",
        AccountGroup::SetUp => "connection setup",
        AccountGroup::Held => "bytes held back in a kernel before they left",
        AccountGroup::NetworkAndPeer => "the network and the peer, which was not recorded",
        AccountGroup::Network => "the network between client and server",
        AccountGroup::Client => "the client itself",
        AccountGroup::Server => "the server itself",
        AccountGroup::Other => "unexplained time",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{CLIENT, Fixture, MS, SERVER, US, WRITE, keep_alive, request};
    use crate::tests::answer;

    #[test]
    fn most_of_the_time_between_exchanges_has_a_place() {
        const NANOSLEEP: u16 = 35;
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        fixture.script(5, &["client.py:7:wait"]);
        fixture.script(6, &["client.py:9:fetch"]);
        let mut idle = fixture.now;
        for _ in 0..5 {
            fixture.waits(CLIENT, 20 * MS, NANOSLEEP, |call| call.script_stack = 5);
            // Shorter, and within a request.
            let from = fixture.recording.calls.len();
            request(&mut fixture, CLIENT, 1, 5 * MS, &mut idle);
            fixture.recording.calls[from..].iter_mut().for_each(|call| call.script_stack = 6);
        }
        let summary = answer(&fixture.end()).summary;
        assert!(summary.ends_with("is 'asleep in nanosleep', client.py:7 in wait."), "{summary}");
    }

    #[test]
    fn stalls_of_few_requests_are_told_by_themselves() {
        let recording = keep_alive(100, 300 * US).end();
        let analysis = Analysis::new(&recording);
        let stall = |index: usize| (analysis.exchanges[index].start, analysis.exchanges[index].end);
        let stalls = |indexes: &[usize]| indexes.iter().map(|&index| stall(index)).collect::<Vec<_>>();
        let few = |indexes: &[usize]| few(&analysis, indexes.len() as u64, &stalls(indexes));
        let (from, to) = stall(1);
        assert_eq!(few(&[1, 2]), Some(Few { count: 2, ns: to - from, when: Moment::Start }));
        assert_eq!(few(&[97, 98]).map(|few| few.when), Some(Moment::End));
        assert_eq!(few(&[0, 50]).map(|few| few.when), Some(Moment::Throughout));
        assert_eq!(few(&(0..20).collect::<Vec<_>>()), None);
        assert_eq!(few(&[]), None);
        // One that holds all of them.
        assert_eq!(super::few(&analysis, 100, &stalls(&[50])), None);
    }

    #[test]
    fn cpus_in_use_are_counted_from_the_first_request_to_the_last_answer() {
        let used = |millis: u64| {
            let mut fixture = keep_alive(1, 50 * US);
            fixture.off(SERVER, fixture.now + 2 * MS, fixture.now + 1000 * MS);
            for _ in 0..20 {
                fixture.moves(CLIENT, 1, WRITE, 20);
                fixture.computes(CLIENT, millis * MS, 0);
                fixture.waits_for(CLIENT, 1, 5 * MS, 100);
            }
            let recording = fixture.end();
            cpu_use(&Analysis::new(&recording)).expect("requests").used
        };
        assert!((0.74..0.86).contains(&used(20)), "{}", used(20));
        assert!((0.12..0.22).contains(&used(1)), "{}", used(1));
    }

    #[test]
    fn what_nobody_waits_for_ranks_behind_what_somebody_does() {
        let recording = keep_alive(100, 300 * US).end();
        let analysis = Analysis::new(&recording);
        let cost = |share_of_wall, share_of_cpu| Cost { share_of_wall, share_of_cpu, ..Cost::default() };
        let burns = Cost { cpu_ns_per_exchange: 250_000, ..cost(0.0, 0.9) };
        let ranked = |kind, cost: &Cost| rank(&analysis, &Finding { kind, cost: *cost, ..Finding::default() });
        assert!(ranked(Kind::Cause, &cost(0.06, 0.0)) > ranked(Kind::Cause, &burns));
        assert!(ranked(Kind::Cause, &burns) > ranked(Kind::Cause, &cost(0.01, 0.0)));
        assert!(ranked(Kind::Cause, &cost(0.48, 0.0)) > ranked(Kind::Observation, &cost(0.49, 0.0)));
        assert!(ranked(Kind::Cause, &cost(0.10, 0.0)) < ranked(Kind::Observation, &cost(0.90, 0.0)));
    }
}
