//! The slow few: requests that take many times as long as most, and not for what most of them take their time for.

use crate::analysis::Analysis;
use crate::connections::End;
use crate::spans::{merge, within};
use crate::waits::{Kinds, tree_of};
use case::{Activity, FewConnections, RequestKind, Tail, WaitNode, WaitTree};
use std::collections::{BTreeMap, BTreeSet};

/// Among fewer requests than this none are few.
const LEAST_REQUESTS: usize = 50;
/// They take so many times as long as half of all requests do, at least: what is slower by less is of the same kind.
const TIMES: u64 = 5;
/// And so much longer: less is nothing that anybody notices, and what a scheduler does now and then.
const LONGER: u64 = 5_000_000;
/// Each that takes so much longer is noticed by whoever waits for it (a tenth of a second: Miller, "Response time in man-computer
/// conversational transactions", 1968), however few there are.
const NOTICED: u64 = 100_000_000;
/// Fewer are an incident, unless all are on one connection ...
const LEAST: usize = 3;
/// ... of so many that it is no chance: once in a hundred times at most.
const BY_CHANCE: f64 = 0.01;
/// One in so many at most: more are a part of what requests usually take.
const FEW: usize = 10;
/// So much of the time of the slow ones is most of it.
const MOST: f64 = 0.5;
/// With less than this of all requests' time, others are not noticed by anybody who waits for many.
const SHARE: f64 = 0.1;
/// All within the first or the last of so many requests are how a run starts or ends.
const EDGE: usize = 10;
/// So many of them are followed at most, evenly spread ...
const MOST_FOLLOWED: usize = 1_000;
/// ... and of the others, which tell the same story.
const FOLLOWED: usize = 200;
/// So many of them ask for the same, where that is what they have in common ...
const NEARLY_ALL: f64 = 0.8;
/// ... and so many of the others at most.
const SELDOM: f64 = 0.5;

/// The slow few; none where there are none, or where they take their time for what the others do. Whether what was found is about
/// them shows in the stretches that the findings are about.
pub fn find(analysis: &Analysis, stalls: &[(u64, u64)]) -> Option<Tail> {
    let all = requests(analysis);
    if all.len() < LEAST_REQUESTS || analysis.is_capture() {
        return None;
    }
    let mut lengths: Vec<u64> = all.iter().map(|&index| analysis.exchanges[index].length()).collect();
    lengths.sort_unstable();
    let usual = lengths[lengths.len() / 2];
    let find = |limits| of_those(analysis, stalls, (&all, usual), limits);
    let (longer, noticed) = (find((LONGER, SHARE)), find((NOTICED, 0.0)));
    // Of some that take a little longer now and then, those that are noticed may make up most.
    let is_most = |noticed: &Tail| longer.as_ref().is_none_or(|longer| noticed.share >= MOST * longer.share);
    noticed.filter(is_most).or(longer)
}

/// The requests, by their places: where servers alone are watched those that they answer, of which what they ask others is a part.
fn requests(analysis: &Analysis) -> Vec<usize> {
    let answered = |index: &usize| analysis.exchanges[*index].end_seen == End::Server;
    let has_client = analysis.recording.processes.iter().any(|process| process.role == "client");
    let all = 0..analysis.exchanges.len();
    if !has_client && all.clone().any(|index| answered(&index)) {
        return all.filter(answered).collect();
    }
    all.collect()
}

/// The slow few of all, by their places, that take so much longer than usual, and so large a share of all requests' time.
fn of_those(
    analysis: &Analysis,
    stalls: &[(u64, u64)],
    (all, usual): (&[usize], u64),
    (longer, least): (u64, f64),
) -> Option<Tail> {
    let is_slow = |index: &usize| {
        let length = analysis.exchanges[*index].length();
        length >= usual.saturating_mul(TIMES) && length >= usual.saturating_add(longer)
    };
    let (slow, others): (Vec<usize>, Vec<usize>) = all.iter().copied().partition(is_slow);
    let place = |index: &usize| all.partition_point(|other| other < index);
    let (first, last) = (place(slow.first()?), place(slow.last()?));
    let is_at_an_edge = last * EDGE < all.len() || (all.len() - 1 - first) * EDGE < all.len();
    if !are_enough(analysis, all, &slow) || slow.len() * FEW > all.len() || is_at_an_edge {
        return None;
    }
    let length = |of: &[usize]| of.iter().map(|&index| analysis.exchanges[index].length()).sum::<u64>();
    let share = length(&slow) as f64 / length(all).max(1) as f64;
    if share < least {
        return None;
    }
    let waits = tree_of(analysis, &some(&slow, MOST_FOLLOWED))?;
    let usually = tree_of(analysis, &some(&others, FOLLOWED));
    if is_the_same(&waits, usually.as_ref()) {
        return None;
    }
    let stalls = merge(stalls.to_vec());
    let has = |&&index: &&usize| {
        let exchange = &analysis.exchanges[index];
        within(&stalls, exchange.start, exchange.end).next().is_some()
    };
    let explained = slow.iter().filter(has).count() * 2 >= slow.len();
    let least_ns = slow.iter().map(|&index| analysis.exchanges[index].length()).min()?;
    let kind = kind(analysis, &slow, &others);
    let (connections, since_ns) = (connections(analysis, all, &slow), since(analysis, all.len(), (first, &slow)));
    let count = slow.len() as u64;
    Some(Tail { count, least_ns, usual_ns: usual, share, kind, connections, since_ns, explained, waits })
}

/// Whether they are more than an incident: several, or two whose connection is the same though there are very many.
fn are_enough(analysis: &Analysis, all: &[usize], slow: &[usize]) -> bool {
    let of = |index: usize| analysis.exchanges[index].connection;
    let is_one = slow.iter().all(|&index| of(index) == of(slow[0]));
    let mut on: BTreeMap<usize, usize> = BTreeMap::new();
    for &index in all {
        *on.entry(of(index)).or_default() += 1;
    }
    // Were each request slow alike, the others would be on this connection as often as requests are.
    let share = on.get(&of(slow[0])).map_or(1.0, |&count| count as f64 / all.len() as f64);
    slow.len() >= LEAST || slow.len() > 1 && is_one && share <= BY_CHANCE
}

/// The connections that they are on, where they are few among those with requests, and have several each.
fn connections(analysis: &Analysis, all: &[usize], slow: &[usize]) -> Option<FewConnections> {
    let of = |index: usize| analysis.exchanges[index].connection;
    let theirs: BTreeSet<usize> = slow.iter().map(|&index| of(index)).collect();
    let all: BTreeSet<usize> = all.iter().map(|&index| of(index)).collect();
    if theirs.len() * FEW > all.len() || theirs.len() > 1 && theirs.len() * LEAST > slow.len() {
        return None;
    }
    let only = theirs.first().filter(|_| theirs.len() == 1);
    let remote = only.and_then(|&slot| analysis.connections.remote_name(slot));
    Some(FewConnections { count: theirs.len() as u64, of: all.len() as u64, remote })
}

/// When they began to come: had they come all along as often as since then, so many would have been there before that there are
/// none by chance once in a hundred times at most (of a Poisson process, e^-5).
fn since(analysis: &Analysis, all: usize, (before, slow): (usize, &[usize])) -> Option<u64> {
    const BEFORE: f64 = 5.0;
    let begun = analysis.recording.manifest.start.0;
    let first = analysis.exchanges[*slow.first()?].start;
    let expected = slow.len() as f64 * before as f64 / (all - before) as f64;
    (expected >= BEFORE).then_some(first.saturating_sub(begun))
}

/// So many of some exchanges at most, evenly spread.
fn some(of: &[usize], most: usize) -> Vec<usize> {
    of.iter().copied().step_by(of.len().div_ceil(most).max(1)).collect()
}

/// Whether nothing is known of what the slow ones wait for, or it is what the others wait for.
fn is_the_same(slow: &WaitTree, usually: Option<&WaitTree>) -> bool {
    let what = |node: &WaitNode| {
        let call = match &node.activity {
            Activity::Blocked { call, .. } => Some(call.clone()),
            _ => None,
        };
        (node.program.clone(), node.end, std::mem::discriminant(&node.activity), call, node.place.first().cloned())
    };
    let Some(end) = slow.main_end() else { return true };
    usually.and_then(WaitTree::main_end).is_some_and(|other| what(other) == what(end))
}

/// What nearly all of the slow ones ask for and few of the others do.
fn kind(analysis: &Analysis, slow: &[usize], others: &[usize]) -> Option<RequestKind> {
    let kinds = Kinds::new(analysis);
    let count = |of: &[usize]| {
        let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
        for &index in of {
            *counts.entry(kinds.of(&analysis.exchanges[index])).or_default() += 1;
        }
        counts
    };
    let (kind, most) = count(slow).into_iter().max_by_key(|(_, count)| *count)?;
    let elsewhere = count(others).get(&kind).copied().unwrap_or_default();
    let is_theirs = most as f64 >= NEARLY_ALL * slow.len() as f64 && elsewhere as f64 <= SELDOM * others.len() as f64;
    let kind = kinds.all().into_iter().nth(kind as usize).filter(|_| is_theirs)?;
    (kind != RequestKind::Any).then_some(kind)
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, SERVER, US, request};
    use crate::tests::answer;
    use case::{Recording, Tail};
    use std::collections::BTreeMap;

    const NANOSLEEP: u16 = 35;

    /// Two hundred requests of 300 us, each so many of which the server sleeps over; the others it sleeps over for so long.
    fn slow(every: usize, sleep: u64, usual: u64, skipped: usize) -> Recording {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        fixture.script(5, &["server.py:9:render"]);
        fixture.script(6, &["server.py:3:answer"]);
        let mut idle = fixture.now;
        for number in 0..200 {
            let is_slow = number >= skipped && number % every == 7;
            let (length, script) = if is_slow { (sleep, 5) } else { (usual, 6) };
            let start = fixture.now;
            request(&mut fixture, CLIENT, 1, length + 300 * US, &mut idle);
            let end = fixture.now;
            if length > 0 {
                fixture.now = start + 100 * US;
                fixture.waits(SERVER, length, NANOSLEEP, |call| call.script_stack = script);
            }
            fixture.now = end + 20 * US;
        }
        fixture.off(SERVER, idle, fixture.now + MS);
        fixture.end()
    }

    fn tail(recording: &Recording) -> Option<Tail> {
        answer(recording).tail
    }

    #[test]
    fn the_slow_few_are_named_with_what_they_wait_for() {
        let tail = tail(&slow(40, 60 * MS, 0, 0)).expect("five are slow");
        assert_eq!((tail.count, tail.explained), (5, false));
        assert!(tail.least_ns >= 60 * MS && tail.usual_ns < MS && tail.share > 0.7, "{tail:?}");
        assert_eq!(tail.cause().expect("a sleep").place[0].line, 9);
    }

    /// A hundred rounds of requests that take so long, one on each of some connections; in these rounds the server sleeps over the one
    /// on that connection for so long.
    fn noticed(connections: u32, usual: u64, slow: impl IntoIterator<Item = (usize, u32, u64)>) -> Recording {
        let slow: BTreeMap<(usize, u32), u64> =
            slow.into_iter().map(|(round, id, length)| ((round, id), length)).collect();
        let mut fixture = Fixture::new();
        fixture.script(5, &["server.py:9:render"]);
        let mut idle = fixture.now;
        for round in 0..100 {
            for id in 1..=connections {
                if round == 0 {
                    fixture.connect(id, CLIENT);
                }
                let sleep = slow.get(&(round, id)).copied();
                let start = fixture.now;
                request(&mut fixture, CLIENT, id, sleep.unwrap_or(usual) + 300 * US, &mut idle);
                let end = fixture.now;
                if let Some(sleep) = sleep {
                    fixture.now = start + 100 * US;
                    fixture.waits(SERVER, sleep, NANOSLEEP, |call| call.script_stack = 5);
                }
                fixture.now = end + 20 * US;
            }
        }
        fixture.off(SERVER, idle, fixture.now + MS);
        fixture.end()
    }

    #[test]
    fn those_that_are_noticed_are_named_however_few_and_where_and_since_when() {
        // The other requests take twenty times as much in all.
        let tail =
            tail(&noticed(20, 6 * MS, [64, 72, 80, 88, 96].map(|round| (round, 7, 120 * MS)))).expect("five are slow");
        assert_eq!(tail.count, 5, "{tail:?}");
        assert!(tail.share < 0.1, "{tail:?}");
        let connections = tail.connections.expect("one");
        assert_eq!((connections.count, connections.of), (1, 20));
        assert!(connections.remote.is_some());
        assert!(tail.since_ns.is_some_and(|since| since > 7_000 * MS), "{:?}", tail.since_ns);
    }

    #[test]
    fn two_are_no_chance_where_both_are_on_one_connection_of_very_many() {
        let two =
            |connections, second| tail(&noticed(connections, 6 * MS, [(40, 7, 120 * MS), (70, second, 120 * MS)]));
        let found = two(120, 7).expect("one connection in 120");
        assert_eq!((found.count, found.connections.map(|few| (few.count, few.of))), (2, Some((1, 120))));
        assert_eq!(two(20, 7), None, "one in twenty");
        assert_eq!(two(120, 8), None, "on two connections");
    }

    #[test]
    fn those_that_are_noticed_are_not_lost_among_some_that_take_a_little_longer_now_and_then() {
        let here_and_there = |count: u32| (0..count).map(|at| (20 + at as usize % 60, 10 + at % 100, 8 * MS));
        let found = |count| {
            let few = [40, 70].map(|round| (round, 7, 400 * MS));
            tail(&noticed(120, 200 * US, here_and_there(count).chain(few))).expect("some are slow")
        };
        assert_eq!(found(30).count, 2);
        assert_eq!(found(200).count, 202, "the others take more in all");
    }

    #[test]
    fn many_or_those_that_are_hardly_slower_or_a_start_are_no_tail() {
        assert_eq!(tail(&slow(8, 60 * MS, 0, 0)), None, "one in eight");
        assert_eq!(tail(&slow(40, 4 * MS, 0, 0)), None, "4 ms");
        assert_eq!(tail(&slow(40, 60 * MS, 20 * MS, 0)), None, "three times as long");
        assert_eq!(tail(&slow(200, 60 * MS, 0, 0)), None, "one");
        assert_eq!(tail(&slow(8, 60 * MS, 0, 180)), None, "the last ones");
    }

    #[test]
    fn what_a_finding_is_about_is_explained() {
        let recording = slow(40, 60 * MS, 0, 0);
        let analysis = crate::Analysis::new(&recording);
        let is_explained = |stalls: &[(u64, u64)]| super::find(&analysis, stalls).expect("a tail").explained;
        let slow = analysis.exchanges.iter().filter(|one| one.length() > 50 * MS);
        let stalls: Vec<(u64, u64)> = slow.map(|one| (one.start + MS, one.start + 2 * MS)).collect();
        assert!(is_explained(&stalls));
        assert!(!is_explained(&stalls[..2]));
    }

    #[test]
    fn what_all_wait_for_is_no_reason_of_the_slow_few() {
        let mut recording = slow(40, 60 * MS, 5 * MS, 0);
        assert!(tail(&recording).is_some());
        recording.calls.iter_mut().filter(|call| call.script_stack == 6).for_each(|call| call.script_stack = 5);
        assert_eq!(tail(&recording), None);
    }
}
