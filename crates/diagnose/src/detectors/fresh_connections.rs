//! Connections that take the place of an earlier one, and what setting them up costs: what detectors of connections that
//! are not used again share.

use crate::analysis::{Analysis, PotentialSaving};
use crate::connections::End;
use crate::exchange::{Exchange, SetUp};
use crate::said::Said;
use case::facts::Observation;
use case::tables::{Segment, direction, flags};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Fewer connections than this are no habit.
pub(super) const HABIT: usize = 5;

/// Where a pool discards so many connections for its requests, it is too small for them; a connection that is replaced now and
/// then has come to its end.
const FAIR_PART: f64 = 0.2;

/// A plain connect's CPU time is a fraction of what a program does for any request: only its wall time counts,
/// from this share of the exchanges',
const WAITING: f64 = 0.05;

/// and from this length: one call on a machine of its own takes 10 us, and nobody feels that.
const FELT: u64 = 30_000;

/// With fewer statements than this a connection to a database has carried one transaction: BEGIN, what it is about, COMMIT.
const FEW_STATEMENTS: usize = 5;

/// A connection that is idle for longer may be gone: Apache httpd and Node.js close it after 5 s unless told otherwise, nginx
/// after 75 s.
pub(super) const KEPT: u64 = 5_000_000_000;

/// A connection that takes the place of an earlier one.
#[derive(Clone, Copy)]
pub(super) struct Fresh<'e> {
    pub exchange: &'e Exchange,
    pub set_up: SetUp,
    /// The place of the earlier connection in the list of all.
    pub instead_of: usize,
}

/// The fresh connections to one address.
#[derive(Default)]
pub(super) struct Churn<'e> {
    /// The first exchange of each connection, and how it was set up.
    pub firsts: Vec<(&'e Exchange, SetUp)>,
    /// Those for which an earlier connection stood free, and would still have been there.
    pub avoidable: Vec<Fresh<'e>>,
    /// How many exchanges all connections carried.
    pub exchanges: usize,
    /// For each connection, when it was used for the last time.
    pub last_uses: BTreeMap<usize, u64>,
    /// What passed on each connection before its first statement or command: logging in.
    pub logins: BTreeMap<usize, Vec<(u64, u64)>>,
}

impl Churn<'_> {
    /// Finds the connections that take the place of one that was used for the last time shortly before, each of another.
    /// Connections for requests at the same time are needed, however short they live.
    fn find_avoidable(&mut self) {
        let mut free: Vec<(u64, usize)> = self.last_uses.iter().map(|(&slot, &end)| (end, slot)).collect();
        free.sort_unstable();
        let mut free = free.into_iter().peekable();
        self.firsts.sort_by_key(|(_, set_up)| set_up.start);
        for &(exchange, set_up) in &self.firsts {
            while free.next_if(|(end, _)| end.saturating_add(KEPT) < set_up.start).is_some() {}
            if let Some((_, instead_of)) = free.next_if(|&(end, _)| end <= set_up.start) {
                self.avoidable.push(Fresh { exchange, set_up, instead_of });
            }
        }
    }

    /// Whether about every exchange has a connection of its own, again and again; of a database's, every few statements.
    pub(super) fn is_habit(&self) -> bool {
        let few = if self.logins.is_empty() { 2 } else { FEW_STATEMENTS };
        self.avoidable.len() >= HABIT && self.exchanges < few * self.avoidable.len()
    }

    /// How long it took to log in on a connection.
    fn login(&self, slot: usize) -> u64 {
        self.logins.get(&slot).map_or(0, |spans| crate::spans::length(spans.iter().copied()))
    }

    /// What was seen of logging in on the connections that could have been spared.
    pub(super) fn logins_seen(&self) -> Option<Observation> {
        let of = self.avoidable.iter().map(|fresh| self.login(fresh.exchange.connection)).filter(|&ns| ns > 0);
        let lengths = of.collect::<Vec<_>>();
        let mean = lengths.iter().sum::<u64>().checked_div(lengths.len() as u64)?;
        Some(Observation::Logins { connections: lengths.len() as u64, ns: mean })
    }

    /// How many of the earlier connections the client had closed itself, idle and whole as they were.
    pub(super) fn discarded(&self, analysis: &Analysis) -> usize {
        self.avoidable.iter().filter(|fresh| is_discarded(analysis, fresh.instead_of)).count()
    }

    /// Whether a pool keeps fewer connections than it opens, so that a fair part of the requests meets none.
    pub(super) fn is_small_pool(&self, analysis: &Analysis) -> bool {
        let discarded = self.discarded(analysis);
        discarded >= HABIT && discarded as f64 >= FAIR_PART * self.exchanges as f64
    }

    /// Whether any of the connections is encrypted.
    fn is_encrypted(&self) -> bool {
        self.firsts.iter().any(|(_, set_up)| set_up.handshake < set_up.application)
    }
}

/// Whether a client closed a connection that its server had not.
fn is_discarded(analysis: &Analysis, slot: usize) -> bool {
    let closing = analysis.connections.closing(slot);
    let is_over = has_ended(analysis.connections.segments(slot), closing);
    analysis.end(slot) == End::Client && closing < analysis.recording.manifest.end.0 && !is_over
}

/// Whether the server's end was over before the client closed.
pub(super) fn has_ended(segments: &[Segment], closing: u64) -> bool {
    let before = segments.iter().take_while(|row| row.time.0 <= closing);
    before.into_iter().any(|row| row.direction == direction::IN && row.flags & (flags::FIN | flags::RST) != 0)
}

/// The fresh connections of a run by whom they are to.
pub(super) fn churns<'a>(analysis: &'a Analysis) -> BTreeMap<String, Churn<'a>> {
    churns_of(analysis, analysis.exchanges.iter(), |_, _| true)
}

/// The fresh connections of some exchanges by whom they are to; of those that open one only such as count.
pub(super) fn churns_of<'a>(
    analysis: &Analysis,
    exchanges: impl Iterator<Item = &'a Exchange>,
    counts: impl Fn(&Exchange, &SetUp) -> bool,
) -> BTreeMap<String, Churn<'a>> {
    let mut groups: Vec<(String, Churn)> = Vec::new();
    // Whom a connection is to is asked once for it, not for each of its exchanges.
    let mut places: FxHashMap<usize, usize> = FxHashMap::default();
    let mut by_name: FxHashMap<String, usize> = FxHashMap::default();
    let exchanges = exchanges.collect::<Vec<_>>();
    let logins = logins(analysis, &exchanges);
    for exchange in exchanges {
        let place = *places.entry(exchange.connection).or_insert_with(|| {
            let name = peer_name(analysis, exchange);
            *by_name.entry(name.clone()).or_insert_with(|| {
                groups.push((name, Churn::default()));
                groups.len() - 1
            })
        });
        let group = &mut groups[place].1;
        let login = logins.get(&exchange.connection);
        group.logins.extend(login.map(|spans| (exchange.connection, spans.clone())));
        let logs_in = login.is_some_and(|spans| spans.iter().any(|&(_, end)| end == exchange.end));
        group.exchanges += usize::from(!logs_in);
        let set_up = exchange.set_up.as_deref().filter(|set_up| counts(exchange, set_up));
        group.firsts.extend(set_up.map(|set_up| (exchange, *set_up)));
        let last_use = group.last_uses.entry(exchange.connection).or_default();
        *last_use = exchange.end.max(*last_use);
    }
    for (_, churn) in &mut groups {
        churn.find_avoidable();
    }
    groups.into_iter().collect()
}

/// What passed on each connection before its first statement or command, where there was one.
fn logins(analysis: &Analysis, exchanges: &[&Exchange]) -> BTreeMap<usize, Vec<(u64, u64)>> {
    if analysis.recording.commands.is_empty() {
        return BTreeMap::new();
    }
    let commands = Said::commands(analysis);
    let mut before: BTreeMap<usize, Vec<(u64, u64)>> = BTreeMap::new();
    let mut begun = BTreeSet::new();
    for exchange in exchanges {
        if commands.first(exchange).is_some() {
            begun.insert(exchange.connection);
        } else if !begun.contains(&exchange.connection) {
            let start = exchange.set_up.as_ref().map_or(exchange.start, |set_up| set_up.application);
            before.entry(exchange.connection).or_default().push((start, exchange.end));
        }
    }
    before.retain(|connection, _| begun.contains(connection));
    before
}

/// What the avoidable connections of some churns cost.
pub(super) struct Charge<'c, 'e> {
    pub saving: PotentialSaving,
    pub explains: Vec<(u32, u64, u64)>,
    /// The one with the most of them, and whom its connections are to.
    pub name: &'c str,
    pub churn: &'c Churn<'e>,
}

/// What those of some churns cost that are a habit; none where there is no such, or where nobody feels it.
pub(super) fn charge<'c, 'e>(
    analysis: &Analysis,
    groups: &'c BTreeMap<String, Churn<'e>>,
    is_habit: impl Fn(&Analysis, &Churn) -> bool,
) -> Option<Charge<'c, 'e>> {
    let mut saving = PotentialSaving::default();
    let mut costs = Vec::new();
    let mut explains = Vec::new();
    let mut top: Option<(&String, &Churn)> = None;
    for (name, churn) in groups.iter().filter(|(_, churn)| is_habit(analysis, churn)) {
        saving.wall += wall(churn);
        saving.affected += churn.avoidable.len() as u64;
        for Fresh { exchange, set_up, .. } in &churn.avoidable {
            let login = login_spans(analysis, churn, exchange.connection);
            costs.extend(busy_spans(analysis, exchange, set_up).into_iter().chain(login.clone()));
            explains.extend(spans(analysis, exchange, set_up).into_iter().chain(login));
        }
        if top.is_none_or(|(_, known)| known.avoidable.len() < churn.avoidable.len()) {
            top = Some((name, churn));
        }
    }
    let (name, churn) = top?;
    saving.cpu = cpu(analysis, &costs);
    let felt = analysis.cost(&saving).share_of_wall >= WAITING && saving.wall >= FELT * saving.affected;
    (churn.is_encrypted() || felt).then_some(Charge { saving, explains, name, churn })
}

/// What setting up took, without what any connect waited longer than the quickest: that is queueing, which a request on
/// a kept connection would have met as well.
fn wall(churn: &Churn) -> u64 {
    let connect = |set_up: &SetUp| set_up.connected.saturating_sub(set_up.connect);
    let set_ups = || churn.avoidable.iter().map(|fresh| &fresh.set_up);
    let quickest = set_ups().map(connect).min().unwrap_or_default();
    let whole = |set_up: &SetUp| set_up.stretches().iter().map(|(start, end)| end.saturating_sub(*start)).sum::<u64>();
    let logins: u64 = churn.avoidable.iter().map(|fresh| churn.login(fresh.exchange.connection)).sum();
    logins + set_ups().map(|set_up| whole(set_up).saturating_sub(connect(set_up) - quickest)).sum::<u64>()
}

/// Whom the exchange was with: address and port; for an exchange seen from the server's end, the address that asked.
fn peer_name(analysis: &Analysis, exchange: &Exchange) -> String {
    match exchange.end_seen {
        End::Client => analysis.connections.remote(exchange.connection),
        End::Server => analysis.connections.row(exchange.connection).remote_address.clone(),
    }
}

/// The stretches whose CPU time is the set-up's: the client's, and the server's handshake. What else a server did
/// meanwhile was for others.
fn busy_spans(analysis: &Analysis, exchange: &Exchange, set_up: &SetUp) -> Vec<(u32, u64, u64)> {
    let peer = analysis.connections.all()[exchange.connection].peer;
    let shaken = peer.and_then(|peer| analysis.connections.handshake(peer));
    let shaken = shaken.map(|row| (row.tid, row.start.0, row.end.0));
    spans_at(analysis, exchange.connection, set_up).into_iter().chain(shaken).collect()
}

/// Logging in on a connection as stretches of the threads that first moved bytes at either end.
fn login_spans(analysis: &Analysis, churn: &Churn, slot: usize) -> Vec<(u32, u64, u64)> {
    let spans = churn.logins.get(&slot).map_or(&[][..], Vec::as_slice);
    let ends = std::iter::once(slot).chain(analysis.connections.all()[slot].peer);
    let threads = ends.filter_map(|end| Some(analysis.connections.transfers_of(end).next()?.tid));
    threads.flat_map(|tid| spans.iter().map(move |&(from, to)| (tid, from, to))).collect()
}

/// The set-up as stretches of the threads that made it, at both ends.
fn spans(analysis: &Analysis, exchange: &Exchange, set_up: &SetUp) -> Vec<(u32, u64, u64)> {
    let peer = analysis.connections.all()[exchange.connection].peer;
    let ends = std::iter::once(exchange.connection).chain(peer);
    ends.flat_map(|slot| spans_at(analysis, slot, set_up)).collect()
}

/// The set-up as stretches of the thread that first moved bytes at one end.
fn spans_at(analysis: &Analysis, slot: usize, set_up: &SetUp) -> Vec<(u32, u64, u64)> {
    let first = analysis.connections.transfers_of(slot).next().map(|call| call.tid);
    first.map_or_else(Vec::new, |tid| set_up.stretches().map(|(start, end)| (tid, start, end)).to_vec())
}

/// The CPU time of some threads' stretches, each moment once.
pub(super) fn cpu(analysis: &Analysis, spans: &[(u32, u64, u64)]) -> u64 {
    let mut by_thread: BTreeMap<u32, Vec<(u64, u64)>> = BTreeMap::new();
    for &(tid, start, end) in spans {
        by_thread.entry(tid).or_default().push((start, end));
    }
    let mut total = 0;
    for (tid, spans) in by_thread {
        // Connections set up at the same time share one thread's CPU time.
        for (start, end) in crate::spans::merge(spans) {
            let (outside, within) = analysis.threads.on_processor(tid, start, end);
            total += outside + within;
        }
    }
    total
}
