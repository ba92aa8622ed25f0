//! P25: segments get lost, and who waits for them waits until they are sent again.

use super::{Found, costly_call, detector, listen_backlog_overflow, median, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::exchange::Exchange;
use crate::flights::is_part;
use crate::flow::{Flow, Sent};
use crate::number;
use crate::spans;
use case::tables::{direction, event, transport};
use case::{Nanos, Share};
use rustc_hash::FxHashMap;

detector! {
    /// # loss-and-rto
    ///
    /// ## What it is
    /// Segments get lost on the way. What is behind a gap is of no use to the receiver until the gap is filled, and the last
    /// segment of a message is missed by nobody but a timer: 200 ms at least (RTO), then twice that, and so on. Each loss also
    /// shrinks the congestion window, so that a long transfer over a long way never gets fast.
    ///
    /// ## Evidence
    /// Segments of established connections that were sent again, while nothing else was in flight; where both ends were
    /// recorded, the first did not arrive. Or one long transfer whose segments get lost at any size of its window, not only at the
    /// largest ones, with room at the receiver and no queue on the way (round trips do not grow). Charged is the silence before
    /// each retransmission, and the time for which a transfer was held back by its window.
    ///
    /// ## What proves it
    /// The same link without loss, where `--link loss=` made it. What a network of somebody else loses stays a suspicion.
    ///
    /// ## Remedy
    /// Find what loses packets: a bad cable or radio link, a full queue, a policer (`ip -s link`, `ethtool -S`, `nstat`). Until
    /// then: a congestion control that does not take each loss for congestion (BBR), `rto_min` on routes within a data centre,
    /// fewer messages that wait for each other.
    ///
    /// ## Not to be confused with
    /// listen-backlog-overflow (SYNs, and requests before the server has the connection), mtu-blackhole (large segments only),
    /// bufferbloat and token-bucket (a queue is full: segments get lost at the largest window), segments that were sent again
    /// though they had arrived.
    "P25" "loss-and-rto",
    // What waits in a full queue (P26) for longer than the time-out is sent again, though nothing got lost.
    on_the_wire: true,
    follows_from: &["P26", "P49"],
    needs: &[Tcp]
}

/// Fewer are chance: any path loses a segment now and then.
const REPEATED: usize = 3;
/// What takes less of the requests' time than this is not what makes them slow.
const LEAST_SHARE: f64 = 0.05;
/// A transfer must have lost segments in so many places before anything is said of its window then.
const EPISODES: usize = 8;
/// Losses for want of room in a queue come at the largest windows: of a saw-tooth's, 9 of 10 are smaller. Those that come at any
/// window come in the middle at half of them.
const LARGEST_WINDOWS: f64 = 0.75;
/// A transfer is long where its bytes wait to be sent for more round trips than this.
const LONG: u64 = 3;
/// So many segments are in flight without any congestion window at work (RFC 6928).
const FIRST_WINDOW: u64 = 10;
/// Packets overtake each other by less than this, on several queues of a card or of a link.
const LEAST_GAP: u64 = 1_000_000;
/// A queue on the way makes round trips longer than this many times the shortest.
const QUEUED: f64 = 1.5;

/// What one direction of a connection lost.
struct Lost {
    flow: Flow,
    /// Silences before retransmissions of what was really lost.
    silences: Vec<(u64, u64)>,
    /// How many of its segments were.
    segments: usize,
    /// Whether its window was kept small by losses that have nothing to do with its size.
    is_kept_small: bool,
}

/// What all exchanges waited.
#[derive(Default)]
struct Waits {
    silent: u64,
    held: u64,
    affected: u64,
    stalls: Vec<(u64, u64)>,
    of_calls: Vec<(usize, u64)>,
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let lost = lost(analysis);
    let segments: usize = lost.values().map(|one| one.segments).sum();
    if segments < REPEATED {
        return None;
    }
    let mut waits = Waits::default();
    for exchange in &analysis.exchanges {
        wait(analysis, exchange, &lost, &mut waits);
    }
    let wall = waits.silent + waits.held;
    let is_repeated = waits.stalls.len() >= REPEATED || waits.held > 0;
    if !is_repeated || (wall as f64) < LEAST_SHARE * analysis.exchange_wall() as f64 {
        return None;
    }
    let sent: usize = lost.values().map(|one| one.flow.sent.len()).sum();
    Some(found(analysis, &waits, segments, sent))
}

/// A direction: a connection, and whether its own end sends.
type Way = (usize, u8);

/// Every direction that lost something. What the other end sent counts in a capture, where nobody else tells of it.
fn lost(analysis: &Analysis) -> FxHashMap<Way, Lost> {
    let mut lost = FxHashMap::default();
    for slot in 0..analysis.connections.all().len() {
        let row = analysis.connections.row(slot);
        if analysis.is_capture() && row.transport == transport::TCP {
            lost.extend(filled(analysis, slot).map(|one| ((slot, direction::IN), one)));
        }
        let events = analysis.connections.events(slot).iter();
        let again = events.filter(|one| one.event == event::RETRANSMIT && one.time >= row.established);
        if row.transport == transport::TCP && row.established.0 > 0 && again.count() > 0 {
            lost.extend(lost_by(analysis, slot).map(|one| ((slot, direction::OUT), one)));
        }
    }
    lost
}

fn lost_by(analysis: &Analysis, slot: usize) -> Option<Lost> {
    let flow = Flow::new(analysis.connections.segments(slot));
    let mut silences = Vec::new();
    let mut segments = 0;
    let left_out = listen_backlog_overflow::left_out(analysis, slot);
    let is_left_out = |time: u64| left_out.is_some_and(|(from, to)| (from..=to).contains(&time));
    for pair in flow.sent.windows(2) {
        let [last, again] = pair else { continue };
        if again.before.is_some_and(|before| !arrived(analysis, slot, again, before)) && !is_left_out(again.time) {
            segments += 1;
            silences.push((last.time, again.time));
        }
    }
    let is_kept_small = is_kept_small(&flow, u64::from(analysis.connections.row(slot).mss));
    (segments > 0).then_some(Lost { flow, silences, segments, is_kept_small })
}

/// What the other end had to send again, as it came by: what fills a gap half a round trip or more after the gap showed. What is
/// only out of order comes sooner.
fn filled(analysis: &Analysis, slot: usize) -> Option<Lost> {
    let flow = Flow::of(analysis.connections.segments(slot), direction::IN);
    let round_trip = analysis.connections.round_trip(slot)?;
    let mut furthest = 0;
    let mut silences = Vec::new();
    for (at, sent) in flow.sent.iter().enumerate() {
        if sent.to <= furthest && sent.before.is_none() {
            let behind = flow.sent[..at].iter().rev().take_while(|other| other.from >= sent.to).last();
            let showed = behind.map_or(sent.time, |other| other.time);
            let is_late = sent.time.saturating_sub(showed) >= (round_trip / 2).max(LEAST_GAP);
            silences.extend(is_late.then_some((showed, sent.time)));
        }
        furthest = furthest.max(sent.to);
    }
    let segments = silences.len();
    (segments > 0).then_some(Lost { flow, silences, segments, is_kept_small: false })
}

/// Whether bytes that were sent again had arrived before; not where the receiver was not recorded: it then would have said so.
fn arrived(analysis: &Analysis, slot: usize, again: &Sent, before: u64) -> bool {
    let Some(peer) = analysis.connections.all()[slot].peer else { return false };
    let left = &analysis.connections.segments(slot)[again.row];
    let arrivals = analysis.connections.segments(peer);
    let from = arrivals.partition_point(|row| row.time.0 < before);
    let meanwhile = arrivals[from..].iter().take_while(|row| row.time.0 < again.time);
    meanwhile.filter(|row| row.direction == direction::IN && row.payload > 0).any(|row| is_part(left, row))
}

/// Whether segments get lost at any size of the window and round trips do not grow: then the way is not full, and the window
/// would be larger without the losses.
fn is_kept_small(flow: &Flow, mss: u64) -> bool {
    let mut all: Vec<u64> = flow.sent.iter().filter(|sent| sent.before.is_none()).map(|sent| sent.under_way).collect();
    if all.iter().all(|&window| window < mss.saturating_mul(FIRST_WINDOW)) {
        return false;
    }
    let Some(shortest) = flow.shortest_round_trip() else { return false };
    let usual = median(flow.acknowledged.iter().filter_map(|one| one.round_trip).collect());
    if usual as f64 > QUEUED * shortest as f64 {
        return false;
    }
    // Those within a round trip of each other are one.
    let mut episodes: Vec<u64> = Vec::new();
    let mut last = 0;
    for (left, again) in flow.sent.iter().filter_map(|sent| Some((sent.before?, sent))) {
        if left > shortest.saturating_add(last) || episodes.is_empty() {
            let at = flow.sent.partition_point(|sent| sent.time < left);
            episodes.extend(flow.sent.get(at).map(|sent| sent.under_way));
        }
        last = again.time.max(last);
    }
    if episodes.len() < EPISODES {
        return false;
    }
    all.sort_unstable();
    let usual = median(episodes);
    (all.partition_point(|&window| window < usual) as f64) < LARGEST_WINDOWS * all.len() as f64
}

/// What an exchange waited for retransmissions, in either direction.
fn wait(analysis: &Analysis, exchange: &Exchange, lost: &FxHashMap<Way, Lost>, waits: &mut Waits) {
    let own = exchange.connection;
    let within = |spans: &[(u64, u64)]| spans::within(spans, exchange.start, exchange.end).collect::<Vec<_>>();
    let (mut silent, mut held) = (Vec::new(), Vec::new());
    let peer = analysis.connections.all()[own].peer.map(|peer| (peer, direction::OUT));
    for way in [(own, direction::OUT), (own, direction::IN)].into_iter().chain(peer) {
        let Some(one) = lost.get(&way) else { continue };
        silent.extend(within(&one.silences));
        if let Some(shortest) = one.flow.shortest_round_trip().filter(|_| one.is_kept_small) {
            // What fits into the window leaves at once, and what does not within some round trips.
            let unsent = within(&analysis.connections.all()[way.0].unsent);
            held.extend(
                unsent.into_iter().filter(|(from, to)| to.saturating_sub(*from) > shortest.saturating_mul(LONG)),
            );
        }
    }
    let length = |spans: &[(u64, u64)]| spans::length(spans.iter().copied());
    let silent = spans::merge(silent);
    let all = length(&spans::merge(silent.iter().copied().chain(held).collect()));
    if all == 0 {
        return;
    }
    waits.affected += 1;
    waits.silent += length(&silent);
    waits.held += all - length(&silent);
    waits.of_calls.extend(analysis.transfers(exchange).first().map(|&row| (row as usize, all)));
    waits.stalls.extend(silent);
}

fn found(analysis: &Analysis, waits: &Waits, segments: usize, sent: usize) -> Found {
    let wall = waits.silent + waits.held;
    let count = analysis.exchanges.len().max(1) as u64;
    let (part, each) = (Nanos(wall / count), Nanos(analysis.exchange_wall() / count));
    let place = costly_call(analysis, waits.of_calls.iter().copied());
    let what = "Segments get lost on the way and are waited for until they are sent again".to_string();
    let mut mechanism = vec![format!(
        "{} of {} segments with data were lost and sent again ({}).",
        number::count(segments as u64),
        number::count(sent as u64),
        Share(segments as f64 / sent.max(1) as f64),
    )];
    if !waits.stalls.is_empty() {
        let lengths: Vec<u64> = waits.stalls.iter().map(|(from, to)| to.saturating_sub(*from)).collect();
        let longest = Nanos(lengths.iter().copied().max().unwrap_or_default());
        mechanism.push(format!(
            "Before {} of them nothing was sent for a median of {}, {longest} at most.",
            number::count(lengths.len() as u64),
            Nanos(median(lengths)),
        ));
    }
    if waits.held > 0 {
        mechanism.push(
            "Segments get lost at any size of the congestion window, with no queue on the way: each loss makes the window smaller \
             than the way could bear."
                .to_string(),
        );
    }
    Found {
        title: format!("{what}: {part} of every {each} request{}", place.in_words()),
        what,
        mechanism,
        saving: PotentialSaving { wall, affected: waits.affected, ..PotentialSaving::default() },
        place,
        remedy: "Find what loses packets: a bad link, a full queue, a policer (`ip -s link`, `ethtool -S`, `nstat`); until then use a \
                 congestion control that bears losses (BBR), and `rto_min` on routes within a data centre."
            .to_string(),
        rows: rows("calls", waits.of_calls.iter().map(|(row, _)| *row)),
        stalls: waits.stalls.clone(),
        ..Found::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, READ, SERVER, US, WRITE};
    use crate::tests::{answer, names};
    use case::tables::{TcpEvent, direction, event};
    use case::{Nanos, Recording};

    /// What happens to every fourth answer.
    #[derive(Clone, Copy, PartialEq)]
    enum Fate {
        Arrives,
        /// Sent again after 200 ms.
        IsLost,
        /// Arrives, and is sent again all the same.
        IsSentTwice,
    }

    /// Forty answers of one segment.
    fn answers(fate: Fate) -> Recording {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        for number in 0..40 {
            fixture.moves(CLIENT, 1, WRITE, 20);
            let asked = fixture.now;
            fixture.travels(asked, 1, 1001, 20);
            fixture.now += 10 * US;
            fixture.moves(SERVER, 1001, READ, 20);
            fixture.moves(SERVER, 1001, WRITE, 500);
            let left = fixture.now;
            let is_again = fate != Fate::Arrives && number % 4 == 0;
            fixture.segment(left, 1001, direction::OUT, 500);
            let mut arrives = left;
            if fate == Fate::IsLost && is_again {
                arrives = left + 200 * MS;
            }
            if is_again {
                let row = fixture.recording.segments.last().expect("it left").clone();
                let time = Nanos(left + 200 * MS);
                fixture.recording.segments.push(case::tables::Segment { time, ..row });
                let event = TcpEvent { time, connection: 1001, event: event::RETRANSMIT, before: 0, after: 0 };
                fixture.recording.tcp_events.push(event);
            }
            fixture.segment(arrives + 5 * US, 1, direction::IN, 500);
            let waited = arrives + 10 * US - fixture.now;
            fixture.waits_for(CLIENT, 1, waited, 500);
            fixture.now += if fate == Fate::IsSentTwice { 300 * MS } else { MS };
        }
        fixture.end()
    }

    #[test]
    fn answers_that_are_waited_for_until_they_are_sent_again_are_found() {
        let answer = answer(&answers(Fate::IsLost));
        let finding = answer.findings.iter().find(|one| one.name == "loss-and-rto").expect("it is found");
        assert_eq!(finding.cost.affected, 10);
        assert!((45 * MS..55 * MS).contains(&finding.cost.ns_per_exchange), "{:?}", finding.cost);
        assert!(finding.mechanism[0].starts_with("10 of"), "{:?}", finding.mechanism);
    }

    #[test]
    fn answers_that_arrive_are_left_alone_also_where_they_are_sent_twice() {
        for fate in [Fate::Arrives, Fate::IsSentTwice] {
            assert!(!names(&answers(fate)).contains(&"loss-and-rto".to_string()));
        }
    }
}
