//! P26: a transfer fills a queue on the way, and whatever else goes there waits behind it.

use super::{Found, costly_call, detector, median, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::exchange::Exchange;
use crate::flow::Flow;
use crate::number;
use crate::spans;
use case::tables::{direction, event, transport};
use case::{Bytes, Nanos};

detector! {
    /// # bufferbloat
    ///
    /// ## What it is
    /// A queue on the way (a modem, a router, a shaper) holds far more than it has to. A long transfer fills it: TCP sends more as long as
    /// nothing is lost, and nothing is lost while there is room. The transfer gets no faster by it, but every packet now waits
    /// for the whole queue to drain, those of other requests as well: what took milliseconds takes a second while somebody uploads or
    /// downloads.
    ///
    /// ## Evidence
    /// With 64 KiB or more of a sender's own in flight, round trips grow to four times the shortest one or more, and by 50 ms at
    /// least; almost nothing is sent again. Other requests to the same host, of which little is to be sent, take longer meanwhile. What
    /// the round trip has grown by is charged to them, once each, and once more where they connect. The sender has to be recorded.
    ///
    /// ## What proves it
    /// The sender paces itself by what gets through, as BBR does: round trips stay short, and so do the other requests.
    ///
    /// ## Remedy
    /// Have the queue drop or mark early where it can be changed (fq_codel, cake, a smaller limit), or shape a little below the
    /// bottleneck's rate before it. At the sender: a congestion control that does not fill queues (BBR), a limit of the rate (fq
    /// maxrate, SO_MAX_PACING_RATE), fewer transfers at a time.
    ///
    /// ## Not to be confused with
    /// A long way (round trips are long without load as well); delayed ACKs; loss-and-rto; a server that is busy.
    "P26" "bufferbloat",
    on_the_wire: true
}

/// Round trips that grow to less than so many times the shortest are what an ordinary queue adds,
const GROWN: u64 = 4;
/// and less than this is not felt; a delayed ACK alone takes 40 ms.
const LEAST_DELAY: u64 = 50_000_000;
/// Fewer bytes in flight fill no queue.
const LEAST_UNDER_WAY: u64 = 65_536;
/// A transfer of less is over before it fills one.
const LEAST_SENT: u64 = 500_000;
/// Of the segments, so many may be sent again.
const MOST_REPAIRED: f64 = 0.02;
/// What takes less of the requests' time than this is not what makes them slow.
const LEAST_SHARE: f64 = 0.1;
/// Fewer requests are chance.
const REPEATED: usize = 3;
/// A request of more bytes is a transfer itself.
const SMALL: u64 = 65_536;

/// A transfer that filled a queue.
struct Load {
    slot: usize,
    shortest: u64,
    /// Round trips while the queue was filled: when they ended, and how long they took, in order of time.
    grown: Vec<(u64, u64)>,
    /// What was in flight then.
    under_way: u64,
    sent: u64,
}

/// A request that was made meanwhile, and what it waited for the queue.
struct Behind {
    exchange: usize,
    waited: u64,
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let loads = (0..analysis.connections.all().len()).filter_map(|slot| load(analysis, slot));
    let found = loads.filter_map(|load| of_load(analysis, &load));
    found.max_by_key(|found| found.saving.wall)
}

/// What one end of a connection sent, where its round trips grew with it.
fn load(analysis: &Analysis, slot: usize) -> Option<Load> {
    let segments = analysis.connections.segments(slot);
    let sent: u64 =
        segments.iter().filter(|row| row.direction == direction::OUT).map(|row| u64::from(row.payload)).sum();
    if analysis.connections.row(slot).transport != transport::TCP || sent < LEAST_SENT {
        return None;
    }
    let flow = Flow::new(segments);
    let events = analysis.connections.events(slot).iter();
    let again = events.filter(|row| row.event == event::RETRANSMIT).count();
    let shortest = shortest(analysis, slot)?.min(flow.shortest_round_trip()?);
    let least = (shortest * GROWN).max(shortest + LEAST_DELAY);
    let (mut grown, mut under_way) = (Vec::new(), Vec::new());
    for one in &flow.acknowledged {
        let left = flow.sent.partition_point(|sent| sent.time < one.time);
        let before = left.checked_sub(1).map_or(0, |last| flow.sent[last].under_way);
        if let Some(round_trip) = one.round_trip.filter(|&length| length >= least && before >= LEAST_UNDER_WAY) {
            grown.push((one.time, round_trip));
            under_way.push(before);
        }
    }
    let is_lossy = again as f64 > MOST_REPAIRED * flow.sent.len() as f64;
    (!is_lossy && !grown.is_empty()).then(|| Load { slot, shortest, grown, under_way: median(under_way), sent })
}

/// The shortest round trip to the same host that any connection of this end shows.
fn shortest(analysis: &Analysis, slot: usize) -> Option<u64> {
    let remote = &analysis.connections.row(slot).remote_address;
    let all = analysis.connections.all().iter().enumerate();
    let same = all.filter(|(other, _)| analysis.connections.row(*other).remote_address == *remote);
    same.filter_map(|(_, rows)| rows.round_trip).min()
}

fn of_load(analysis: &Analysis, load: &Load) -> Option<Found> {
    let filled = spans::merge(load.grown.iter().map(|&(time, length)| (time.saturating_sub(length), time)).collect());
    let all = 0..analysis.exchanges.len();
    let behind: Vec<Behind> = all.filter_map(|exchange| behind(analysis, load, &filled, exchange)).collect();
    let wall: u64 = behind.iter().map(|one| one.waited).sum();
    let is_little = (wall as f64) < LEAST_SHARE * analysis.exchange_wall() as f64;
    (behind.len() >= REPEATED && !is_little).then(|| found(analysis, load, &behind))
}

/// Whether a small request to the same host was made while the queue was filled, and what it waited for that.
fn behind(analysis: &Analysis, load: &Load, filled: &[(u64, u64)], index: usize) -> Option<Behind> {
    let exchange = &analysis.exchanges[index];
    let overlap = spans::length(spans::within(filled, exchange.start, exchange.end));
    if !is_beside(analysis, load, exchange) || overlap == 0 {
        return None;
    }
    // The queue may have filled while it waited: the longest round trip of that time counts, the one that ends next included.
    let first = load.grown.partition_point(|&(time, _)| time < exchange.start);
    let last = load.grown.partition_point(|&(time, _)| time < exchange.end);
    let meanwhile = &load.grown[first..(last + 1).min(load.grown.len())];
    let round_trip = meanwhile.iter().map(|&(_, length)| length).max()?;
    let trips = 1 + u64::from(exchange.set_up.as_ref().is_some_and(|set_up| set_up.connect >= exchange.start));
    let waited = (round_trip.saturating_sub(load.shortest) * trips).min(overlap);
    (waited > 0).then_some(Behind { exchange: index, waited })
}

/// Whether an exchange goes the same way on a connection of its own, with little to be sent.
fn is_beside(analysis: &Analysis, load: &Load, exchange: &Exchange) -> bool {
    let rows = &analysis.connections.all()[load.slot];
    let own = [Some(load.slot), rows.peer].contains(&Some(exchange.connection));
    let host = |slot: usize| &analysis.connections.row(slot).remote_address;
    let of_peer = rows.peer.is_some_and(|peer| host(peer) == host(exchange.connection));
    !own && exchange.bytes <= SMALL && (of_peer || host(load.slot) == host(exchange.connection))
}

fn found(analysis: &Analysis, load: &Load, behind: &[Behind]) -> Found {
    let wall: u64 = behind.iter().map(|one| one.waited).sum();
    let count = analysis.exchanges.len().max(1) as u64;
    let calls = behind.iter().filter_map(|one| {
        let exchange = &analysis.exchanges[one.exchange];
        analysis.transfers(exchange).last().map(|&row| (row as usize, one.waited))
    });
    let calls: Vec<(usize, u64)> = calls.collect();
    let place = costly_call(analysis, calls.iter().copied());
    let usual = Nanos(median(load.grown.iter().map(|&(_, length)| length).collect()));
    let what = "Requests wait in a queue on the way that a transfer fills".to_string();
    let length = |index: usize| analysis.exchanges[index].length();
    let meanwhile = Nanos(median(behind.iter().map(|one| length(one.exchange)).collect()));
    Found {
        title: format!(
            "{what}: {} of every {} request{}",
            Nanos(wall / count),
            Nanos(analysis.exchange_wall() / count),
            place.in_words(),
        ),
        what,
        mechanism: vec![
            format!(
                "While {} were sent to {}, round trips grew from {} to a median of {usual}, with {} in flight.",
                Bytes(load.sent),
                analysis.connections.row(load.slot).remote_address,
                Nanos(load.shortest),
                Bytes(load.under_way),
            ),
            "Almost nothing was lost, so the sender kept filling the queue.".to_string(),
            format!(
                "{} small requests were made meanwhile and took a median of {meanwhile}{}.",
                number::count(behind.len() as u64),
                otherwise(analysis, load, behind).map_or_else(String::new, |usual| format!(", at other times {usual}")),
            ),
        ],
        saving: PotentialSaving { wall, affected: behind.len() as u64, ..PotentialSaving::default() },
        place,
        remedy: "Have the queue drop or mark early (fq_codel, cake, a smaller limit) or shape below its rate; else pace the sender \
                 (BBR, fq maxrate, SO_MAX_PACING_RATE)."
            .to_string(),
        rows: rows("calls", calls.iter().map(|&(row, _)| row)),
        stalls: behind
            .iter()
            .map(|one| (analysis.exchanges[one.exchange].start, analysis.exchanges[one.exchange].end))
            .collect(),
        ..Found::default()
    }
}

/// How long such requests take while the queue is not filled; none where there are too few.
fn otherwise(analysis: &Analysis, load: &Load, behind: &[Behind]) -> Option<Nanos> {
    let touched: std::collections::BTreeSet<usize> = behind.iter().map(|one| one.exchange).collect();
    let all = analysis.exchanges.iter().enumerate();
    let others = all.filter(|(index, one)| !touched.contains(index) && is_beside(analysis, load, one));
    let lengths: Vec<u64> = others.map(|(_, one)| one.length()).collect();
    (lengths.len() >= REPEATED).then(|| Nanos(median(lengths)))
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, READ, SERVER, US, WRITE};
    use crate::tests::{answer, names};
    use case::tables::{TcpEvent, event};
    use case::{Nanos, Recording};

    const TRIP: u64 = 10 * MS;

    /// A page that takes a round trip, on connection 2.
    fn page(fixture: &mut Fixture, round_trip: u64) {
        let start = fixture.now;
        fixture.moves(CLIENT, 2, WRITE, 200);
        fixture.segment(start + 3 * US, 2, 0, 200);
        fixture.segment(start + round_trip / 2, 1002, 1, 200);
        let after = fixture.now;
        fixture.now = start + round_trip / 2 + US;
        fixture.moves(SERVER, 1002, READ, 200);
        fixture.moves(SERVER, 1002, WRITE, 1_000);
        fixture.segment(fixture.now, 1002, 0, 1_000);
        fixture.segment(start + round_trip - 5 * US, 2, 1, 1_000);
        fixture.now = after;
        fixture.waits_for(CLIENT, 2, start + round_trip - after, 1_000);
        fixture.script(6, &["client.py:8:ask"]);
        fixture.recording.calls.last_mut().expect("a call").script_stack = 6;
    }

    /// A download on connection 1 whose segments take `round_trip` with so many segments in flight; pages meanwhile and before.
    fn download(round_trip: u64, under_way: u64, again: u32) -> Recording {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        fixture.connect(2, CLIENT);
        for _ in 0..5 {
            page(&mut fixture, TRIP);
            fixture.now += MS;
        }
        let start = fixture.now;
        fixture.moves(CLIENT, 1, WRITE, 200);
        fixture.segment(start, 1, 0, 200);
        fixture.segment(start + US, 1001, 1, 200);
        fixture.now += 10 * US;
        fixture.moves(SERVER, 1001, READ, 200);
        fixture.moves(SERVER, 1001, WRITE, 4_000_000);
        let step = round_trip / under_way;
        let mut moves: Vec<(u64, bool)> = (0..400).map(|at| (start + 100 * US + at * step, true)).collect();
        moves.extend((0..400).map(|at| (start + 90 * US + at * step + round_trip, false)));
        moves.sort_unstable();
        let mut acknowledged = fixture.recording.segments.last().map_or(0, |row| row.sequence).wrapping_sub(300);
        let mut first = None;
        for (time, leaves) in moves {
            if leaves {
                fixture.segment(time, 1001, 0, 10_000);
                let row = fixture.recording.segments.last().expect("a segment");
                first.get_or_insert(row.sequence);
            } else {
                acknowledged = first.map_or(acknowledged, |first| first.wrapping_add(10_000));
                first = Some(acknowledged);
                fixture.segment(time, 1001, 1, 0);
                fixture.recording.segments.last_mut().expect("a segment").acknowledged = acknowledged;
            }
        }
        for number in 0..again {
            let (event, time) = (event::RETRANSMIT, Nanos(start + u64::from(number) * MS));
            fixture.recording.tcp_events.push(TcpEvent { time, connection: 1001, event, before: 0, after: 0 });
        }
        let end = start + 400 * step;
        while fixture.now + round_trip < end {
            page(&mut fixture, round_trip);
            fixture.now += MS;
        }
        fixture.now = end + round_trip;
        fixture.moves(CLIENT, 1, READ, 4_000_000);
        fixture.end()
    }

    fn is_found(recording: &Recording) -> bool {
        names(recording).contains(&"bufferbloat".to_string())
    }

    #[test]
    fn requests_behind_a_queue_that_a_download_fills_are_found_with_what_it_adds() {
        let answer = answer(&download(400 * MS, 40, 0));
        let finding = answer.findings.iter().find(|one| one.name == "bufferbloat").expect("it is found");
        assert!(finding.mechanism[0].contains("While 4000 kB were sent to 10.0.0.1"), "{:?}", finding.mechanism);
        assert!(
            finding.mechanism[0].contains("to a median of 400 ms, with 400 kB in flight"),
            "{:?}",
            finding.mechanism
        );
        assert!(
            finding.mechanism[2].contains("took a median of 400 ms, at other times 10.0 ms"),
            "{:?}",
            finding.mechanism
        );
        assert_eq!(finding.place[0].line, 8);
        // The pages' time but for one short round trip each; the download itself is not charged.
        assert!((0.35..0.5).contains(&finding.cost.share_of_wall), "{:?}", finding.cost);
    }

    #[test]
    fn a_queue_that_adds_little_a_sender_with_little_under_way_and_loss_are_left_alone() {
        assert!(!is_found(&download(35 * MS, 40, 0)));
        assert!(!is_found(&download(400 * MS, 4, 0)));
        assert!(!is_found(&download(400 * MS, 40, 40)));
    }
}
