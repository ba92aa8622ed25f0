//! Requests for each of which a server asks another one, of which it asks only so many questions at a time: its pool of
//! connections is that large, it keeps a limit, or a lock is held over the question. Where the requests wait meanwhile, in a
//! list of a runtime's or on a lock of a language's, need not be seen.

use super::{LEAST_REQUESTS, LEAST_SHARE, RARE};
use crate::analysis::{Analysis, PotentialSaving};
use crate::connections::End;
use crate::detectors::{Found, costly_call, median, rows};
use crate::in_hand::{self, InHand};
use crate::pieces;
use crate::questions::{self, Question};
use crate::spans::{self, merge};
use case::{Nanos, Share};
use std::collections::BTreeMap;

/// Nearly every request asks the peer: where fewer do, the others are in hand for another reason, and where answers are
/// shared (several questions in one write, on a connection that does not wait for answers) nothing can be counted.
const EACH: f64 = 0.9;
/// On a connection with one question at a time each is written in as many calls as the others.
const REGULAR: f64 = 0.95;
/// Of so many of the turns it must be seen that nothing was read from a client between an answer and the next question: what
/// was asked next had been waiting. On a connection opened for it, that less was read than had been waiting: others may pass on what
/// has just come over a connection that all share.
const WAITING: f64 = 0.6;
/// While more requests are in hand than are asked for, all connections are taken for so much of the time.
const TAKEN: f64 = 0.8;
/// What a connection is not used for longer than this part of a usual answer's time is a pause, not the next turn.
const PAUSE: f64 = 0.3;
/// So much of the busy time there may have been more connections in use: one that is closed while the next is opened.
const MOMENTS: f64 = 0.02;
/// A server that computes for more of one CPU's time meanwhile is busy itself.
const BUSY: f64 = 0.5;

type Spans = Vec<(u64, u64)>;

/// A server's process that asks a peer so many questions at a time.
struct Line {
    peer: String,
    at_a_time: usize,
    requests: usize,
    affected: usize,
    most: usize,
    waited: u64,
    /// How much of one CPU's time the server took meanwhile.
    cpu: f64,
    questions: Vec<Question>,
    /// How long after an answer the next question went out, in the middle.
    turn: u64,
}

pub(super) fn detect(analysis: &Analysis) -> Option<Found> {
    let processes = in_hand::by_process(analysis);
    let lines = processes.iter().flat_map(|(&pid, requests)| of_process(analysis, pid, requests));
    let line = lines.max_by_key(|line| line.waited)?;
    let (count, whole) = (analysis.exchanges.len(), analysis.exchange_wall());
    let is_seldom = line.affected < LEAST_REQUESTS.max(count / RARE);
    (!is_seldom && line.waited as f64 >= LEAST_SHARE * whole as f64).then(|| found(analysis, &line))
}

fn of_process(analysis: &Analysis, pid: u32, requests: &[InHand]) -> Vec<Line> {
    let mut peers: BTreeMap<String, Vec<Vec<Question>>> = BTreeMap::new();
    for slot in 0..analysis.connections.all().len() {
        let is_own = analysis.connections.all()[slot].end == Some(End::Client)
            && analysis.connections.row(slot).pid == pid
            && !pieces::is_multiplexed(analysis, slot);
        let asked = if is_own { questions::of_connection(analysis, slot) } else { Vec::new() };
        if !asked.is_empty() {
            peers.entry(analysis.connections.remote(slot)).or_default().push(asked);
        }
    }
    peers.into_iter().filter_map(|(peer, asked)| of_peer(analysis, pid, requests, peer, asked)).collect()
}

fn of_peer(
    analysis: &Analysis,
    pid: u32,
    requests: &[InHand],
    peer: String,
    asked: Vec<Vec<Question>>,
) -> Option<Line> {
    let all: usize = asked.iter().map(Vec::len).sum();
    if (all as f64) < EACH * requests.len() as f64 || !are_regular(&asked) {
        return None;
    }
    let usual = median(asked.iter().flatten().map(Question::length).collect());
    let used: Vec<Spans> = asked.iter().map(|questions| in_use(questions, (usual as f64 * PAUSE) as u64)).collect();
    let levels = levels(requests, &used);
    let at_a_time = at_a_time(&levels)?;
    let turn = turns(requests, &asked, at_a_time)?;
    let (mut waited, mut more, mut most) = (0_u64, 0_u64, 0);
    let mut taken = Vec::new();
    for level in levels.iter().filter(|level| level.in_hand > at_a_time) {
        more += level.to - level.from;
        if level.asked >= at_a_time {
            let waiting = level.in_hand - at_a_time;
            waited = waited.saturating_add((level.to - level.from).saturating_mul(waiting as u64));
            most = most.max(waiting);
            taken.push((level.from, level.to));
        }
    }
    let taken = merge(taken);
    let whole = spans::length(taken.iter().copied());
    let cpu = analysis.busy(pid, &taken) as f64 / whole.max(1) as f64;
    if (whole as f64) < TAKEN * more as f64 || whole == 0 || cpu > BUSY {
        return None;
    }
    let came = |one: &&InHand| spans::within(&taken, one.from, one.from + 1).next().is_some();
    let affected = requests.iter().filter(came).count();
    let questions = asked.into_iter().flatten().collect();
    Some(Line { peer, at_a_time, requests: requests.len(), affected, most, waited, cpu, questions, turn })
}

/// Whether questions are written in as many calls as the others, as where each waits for the answer to the one before.
fn are_regular(asked: &[Vec<Question>]) -> bool {
    let writes: Vec<u64> = asked.iter().flatten().map(|one| u64::from(one.writes)).collect();
    let usual = median(writes.clone());
    let regular = writes.iter().filter(|&&one| one == usual).count();
    regular as f64 >= REGULAR * writes.len() as f64
}

/// How long after an answer the next question usually went out while more requests were in hand than are asked for at a time;
/// none where it was for requests that came in between.
fn turns(requests: &[InHand], asked: &[Vec<Question>], at_a_time: usize) -> Option<u64> {
    let sorted = |mut times: Vec<u64>| {
        times.sort_unstable();
        times
    };
    let read = sorted(requests.iter().map(|one| one.from).collect());
    let done = sorted(requests.iter().map(|one| one.to).collect());
    let ends = sorted(asked.iter().flatten().map(|one| one.end).collect());
    let until = |times: &[u64], time: u64| times.partition_point(|&at| at <= time);
    let (mut gaps, mut turns) = (Vec::new(), 0_u32);
    let questions = asked.iter().flat_map(|of_one| of_one.iter().enumerate());
    for (before, question) in questions {
        // The last answer before it made room for it.
        let Some(&end) = ends[..until(&ends, question.start)].last() else { continue };
        // What was answered with it is in hand until then.
        let answered = done.partition_point(|&at| at < end);
        let Some(waiting) = until(&read, end).saturating_sub(answered).checked_sub(at_a_time).filter(|&all| all > 0)
        else {
            continue;
        };
        turns += 1;
        let came = until(&read, question.start) - until(&read, end);
        let most = if before == 0 { waiting } else { 1 };
        if came < most {
            gaps.push(question.start - end);
        }
    }
    (turns > 0 && gaps.len() as f64 >= WAITING * f64::from(turns)).then(|| median(gaps))
}

/// When a connection was used, short pauses between questions included.
fn in_use(questions: &[Question], pause: u64) -> Spans {
    let mut spans: Spans = Vec::with_capacity(questions.len());
    for one in questions {
        match spans.last_mut() {
            Some(last) if one.start <= last.1.saturating_add(pause) => last.1 = last.1.max(one.end),
            _ => spans.push((one.start, one.end)),
        }
    }
    spans
}

/// A stretch in which nothing began or ended.
struct Level {
    from: u64,
    to: u64,
    in_hand: usize,
    asked: usize,
}

fn levels(requests: &[InHand], used: &[Spans]) -> Vec<Level> {
    let steps_of = |from: u64, to: u64, by: [isize; 2]| [(from, by), (to, [-by[0], -by[1]])];
    let mut steps: Vec<(u64, [isize; 2])> =
        requests.iter().flat_map(|one| steps_of(one.from, one.to, [1, 0])).collect();
    steps.extend(used.iter().flatten().flat_map(|&(from, to)| steps_of(from, to, [0, 1])));
    steps.sort_unstable();
    let (mut levels, mut in_hand, mut asked, mut at) = (Vec::new(), 0_isize, 0_isize, 0);
    for (time, [requests, questions]) in steps {
        if at < time && (in_hand, asked) != (0, 0) {
            let of = |count: isize| count.max(0).unsigned_abs();
            levels.push(Level { from: at, to: time, in_hand: of(in_hand), asked: of(asked) });
        }
        (in_hand, asked, at) = (in_hand + requests, asked + questions, time);
    }
    levels
}

/// The most questions under way at a time, but for moments.
fn at_a_time(levels: &[Level]) -> Option<usize> {
    let mut by_count: BTreeMap<usize, u64> = BTreeMap::new();
    for level in levels.iter().filter(|level| level.asked > 0) {
        *by_count.entry(level.asked).or_default() += level.to - level.from;
    }
    let whole: u64 = by_count.values().sum();
    let mut above = 0;
    for (&count, &length) in by_count.iter().rev() {
        above += length;
        if above as f64 >= MOMENTS * whole as f64 {
            return Some(count);
        }
    }
    None
}

fn found(analysis: &Analysis, line: &Line) -> Found {
    let (count, whole) = (analysis.exchanges.len().max(1) as u64, analysis.exchange_wall());
    let place = costly_call(analysis, line.questions.iter().map(|one| (one.row, one.length())));
    let (part, each) = (Nanos(line.waited / count), Nanos(whole / count));
    let peer = &line.peer;
    let what = match line.at_a_time {
        1 => format!("Requests wait in line: the server asks {peer} for one of them at a time"),
        several => format!("Requests wait in line: the server asks {peer} for only {several} of them at a time"),
    };
    let usual = Nanos(median(line.questions.iter().map(Question::length).collect()));
    let others =
        if line.at_a_time == 1 { "another one was".to_string() } else { format!("{} others were", line.at_a_time) };
    Found {
        title: format!("{what}: {part} of every {each} request{}", place.in_words()),
        what,
        mechanism: vec![
            format!(
                "{} of {} requests were read while {others} asked for, up to {} waited at a time.",
                line.affected, line.requests, line.most
            ),
            format!(
                "An answer of {peer} takes {usual}; the next question goes out {} after it, for a request that had been read before.",
                Nanos(line.turn)
            ),
            format!("Meanwhile the server takes {} of one CPU.", Share(line.cpu)),
        ],
        saving: PotentialSaving { wall: line.waited, affected: line.affected as u64, ..PotentialSaving::default() },
        place,
        remedy: if line.at_a_time == 1 {
            format!(
                "Do not hold a lock while {peer} is asked, give the pool more than one connection, or raise the limit, if {peer} \
                 can take it."
            )
        } else {
            format!("Give the pool of connections to {peer} more of them, or raise the limit, if {peer} can take it.")
        },
        rows: rows("calls", line.questions.iter().map(|one| one.row)),
        ..Found::default()
    }
}

#[cfg(test)]
mod tests;
