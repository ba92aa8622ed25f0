//! A round from its beginning to its end.

mod document;

use super::address;
use super::change::Change;
use super::clock;
use super::digest;
use super::failure::FeedsFailure;
use super::job::{Job, Purpose};
use super::names::{Names, THREADS};
use super::plan::Plan;
use super::store::{Begun, Store};
use super::tally::{Counts, Outcome};
use super::worker::{Common, Done, Mailbox, Message, Shown, WAKER, Worker, owner};
use super::writer;
use crate::run::raise_limit;
use crate::tls;
use case::{ContentFault, FeedFault, FeedRound};
use mio::{Poll, Waker};
use rustls::client::Resumption;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel, sync_channel};
use std::time::{Duration, Instant};

/// Turns of workers' loops whose changes may be on their way to the disk: a slow one slows the round down, and takes no more
/// memory. A turn has hardly more changes than a worker has
/// connections.
const WAITING_TURNS: usize = 16;
/// rustls keeps up to eight tickets for a host, and counts its bound in tickets.
const SESSIONS_OF_A_HOST: usize = 8;
const LEAST_HOSTS: usize = 256;

/// How a round is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// The round, counted from 1.
    pub round: u64,
    /// How long it has gone on.
    pub elapsed: Duration,
    /// Feeds on the list.
    pub feeds: u64,
    /// Feeds that are seen to.
    pub settled: u64,
    /// Those of them that have not changed.
    pub unchanged: u64,
    /// Those of them that have failed.
    pub failed: u64,
    /// Entries that are new.
    pub new_entries: u64,
    /// Bytes that have arrived.
    pub received: u64,
    /// The next round begins after so long; zero while one goes on.
    pub rests: Duration,
}

impl Live {
    /// The same with what workers have shown.
    fn with(self, shown: &Shown) -> Live {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Live {
            settled: self.settled + of(&shown.settled),
            unchanged: of(&shown.unchanged),
            failed: of(&shown.failed),
            new_entries: of(&shown.new_entries),
            received: of(&shown.received),
            ..self
        }
    }
}

/// Makes the rounds. `watch` is told how it is doing, again and again: it takes its time between two looks, and says whether
/// to go on.
///
/// # Errors
/// Where it cannot begin, or the database cannot be read or written. What goes wrong with feeds is counted.
pub fn refresh(plan: &Plan, watch: &mut dyn FnMut(&Live) -> bool) -> Result<Vec<FeedRound>, FeedsFailure> {
    let store = Store::open(&plan.database)?;
    let mut settings = tls::light_settings(&plan.secured)?;
    if !plan.secured.full_only {
        settings.resumption = Resumption::in_memory_sessions(sessions(&plan.addresses));
    }
    let settings = Arc::new(settings);
    raise_limit(plan.connections as u64);
    let mut rounds: Vec<FeedRound> = Vec::new();
    for number in 1..=plan.rounds.max(1) {
        let begun = Instant::now();
        let (round, goes_on) = one(plan, &store, &settings, number, watch)?;
        let is_finished = round.finished;
        rounds.push(round);
        if !goes_on || !is_finished {
            break;
        }
        if number < plan.rounds && !wait(begun + plan.every, number, watch) {
            break;
        }
    }
    Ok(rounds)
}

/// Waits until the next round is due; whether it is still wanted then.
fn wait(due: Instant, round: u64, watch: &mut dyn FnMut(&Live) -> bool) -> bool {
    loop {
        let rests = due.saturating_duration_since(Instant::now());
        if rests.is_zero() {
            return true;
        }
        if !watch(&Live { round, rests, ..Live::default() }) {
            return false;
        }
    }
}

/// Where a worker waits, and what it is told.
type End = (Poll, Receiver<Message>);

/// A mailbox for each worker, and its other end.
fn mailboxes(workers: usize) -> std::io::Result<(Vec<Mailbox>, Vec<End>)> {
    let one = |_| {
        let poll = Poll::new()?;
        let waker = Arc::new(Waker::new(poll.registry(), WAKER)?);
        let (send, receive) = channel();
        Ok((Mailbox { send, waker }, (poll, receive)))
    };
    (0..workers).map(one).collect::<std::io::Result<Vec<_>>>().map(|all| all.into_iter().unzip())
}

/// How many sessions are kept: for each host, and for half as many again that redirects lead to.
fn sessions(addresses: &[String]) -> usize {
    let hosts = addresses.iter().filter_map(|one| address::read(one)).map(|url| url.host).collect::<HashSet<_>>();
    (hosts.len() * 3 / 2).max(LEAST_HOSTS) * SESSIONS_OF_A_HOST
}

/// One round; whether another is wanted.
fn one(
    plan: &Plan,
    store: &Store,
    settings: &Arc<rustls::ClientConfig>,
    turn: u64,
    watch: &mut dyn FnMut(&Live) -> bool,
) -> Result<(FeedRound, bool), FeedsFailure> {
    let (started, cpu) = (Instant::now(), document::processor());
    let begun = store.begin(&plan.list, clock::now_s())?;
    let mut counts = Counts::default();
    let mut changes = Vec::new();
    let jobs = jobs(plan, store, begun, &mut counts, &mut changes)?;
    store.write(&changes)?;
    drop(changes);
    let (done_before, settled) = (jobs.done_before, counts.outcomes.all());
    let left = AtomicUsize::new(jobs.list.len());
    let (names, stop, shown) = (Names::of(&plan.hosts), AtomicBool::new(false), Shown::default());
    let workers = plan.threads.clamp(1, plan.connections.max(1));
    let (boxes, ends) = mailboxes(workers)?;
    let mut shares: Vec<Vec<Job>> = (0..workers).map(|_| Vec::new()).collect();
    for job in jobs.list {
        shares[owner(&job.url.host, workers)].push(job);
    }
    let common = Common {
        plan,
        store,
        names: &names,
        settings,
        number: begun.number,
        left: &left,
        stop: &stop,
        shown: &shown,
        mailboxes: &boxes,
    };
    let mut goes_on = true;
    let done = work(&common, ends.into_iter().zip(shares), &mut || {
        let before = Live {
            round: turn,
            elapsed: started.elapsed(),
            feeds: plan.addresses.len() as u64,
            settled: done_before + settled,
            ..Live::default()
        };
        goes_on &= watch(&before.with(&shown));
        goes_on
    })?;
    let is_finished = left.load(Ordering::Relaxed) == 0;
    let spent = names.spent();
    // Whoever watches may have slept for a while since.
    let wall = done.iter().map(|one| one.ended).max().map_or(started.elapsed(), |ended| ended - started);
    let whole = document::Whole { begun, done_before, is_finished, wall, cpu, counts, done, spent };
    let (round, state) = document::document(plan, whole);
    if is_finished {
        store.write(&[Change::Round(state)])?;
    }
    Ok((round, goes_on))
}

/// Has each worker do its share, beside who looks names up and who writes. `goes_on` is asked again and again; once it says no, all
/// come to an end.
fn work(
    common: &Common,
    workers: impl Iterator<Item = (End, Vec<Job>)>,
    goes_on: &mut dyn FnMut() -> bool,
) -> Result<Vec<Done>, FeedsFailure> {
    std::thread::scope(|scope| {
        let (send, receive) = sync_channel(WAITING_TURNS);
        let writing = scope.spawn(move || writer::write(common.store, &receive));
        for _ in 0..THREADS {
            scope.spawn(move || {
                let tell = |worker: usize, message| common.mailboxes[worker].tell(message);
                common.names.look_up(|asked, found| tell(asked.worker, Message::LookedUp(asked.host, found)));
            });
        }
        let working = workers.enumerate().map(|(index, ((poll, messages), share))| {
            let changes = send.clone();
            scope.spawn(move || Worker::new(common, index, poll, messages, changes).work(share))
        });
        let working = working.collect::<Vec<_>>();
        drop(send);
        while !working.iter().all(std::thread::ScopedJoinHandle::is_finished) {
            if !goes_on() {
                common.stop.store(true, Ordering::Relaxed);
                wake(common.mailboxes);
            }
        }
        common.names.end();
        let ended = || std::io::Error::other("a thread has ended early");
        let done = working.into_iter().map(|one| Ok(one.join().map_err(|_| ended())??)).collect();
        writing.join().map_err(|_| ended())??;
        done
    })
}

fn wake(boxes: &[Mailbox]) {
    for one in boxes {
        // A worker that cannot be woken looks by itself soon.
        let _ = one.waker.wake();
    }
}

/// What is to be asked for.
struct Jobs {
    list: Vec<Job>,
    /// Feeds that this round has seen to already, before it was killed.
    done_before: u64,
}

/// What of the list is to be asked for; the rest is settled at once.
fn jobs(
    plan: &Plan,
    store: &Store,
    begun: Begun,
    counts: &mut Counts,
    changes: &mut Vec<Change>,
) -> Result<Jobs, FeedsFailure> {
    let states = store.feeds(plan.addresses.iter().map(String::as_str))?;
    let done = store.done(begun.number)?;
    let now_s = clock::now_s();
    let mut jobs = Jobs { list: Vec::new(), done_before: 0 };
    for (feed, (address, state)) in plan.addresses.iter().zip(states).enumerate() {
        if done.contains(&digest::digest(address)) {
            jobs.done_before += 1;
            continue;
        }
        let url = address::read(&state.moved_to).or_else(|| address::read(address));
        let outcome = match url {
            _ if state.is_gone => Outcome::Gone,
            _ if state.not_before_s > now_s => Outcome::PutOff,
            None => Outcome::Failed(FeedFault::Content(ContentFault::BadUrl)),
            Some(url) => {
                jobs.list.push(Job::of(Purpose::Feed(feed), url, state));
                continue;
            }
        };
        counts.settle(outcome, address);
        changes.push(Change::Feed { address: address.clone(), round: begun.number, state: None, seen: None });
    }
    Ok(jobs)
}

#[cfg(test)]
mod tests;
