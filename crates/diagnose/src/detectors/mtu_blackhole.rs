//! P49: large segments vanish on the way, small ones get through.

use super::{Found, costly_call, detector, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::flow::Flow;
use crate::number;
use case::tables::{direction, event, transport};
use case::{Bytes, Nanos};
use rustc_hash::FxHashMap;

detector! {
    /// # mtu-blackhole
    ///
    /// ## What it is
    /// Somewhere on the way the largest packet is smaller than at both ends: a tunnel, a VPN, PPPoE. What is too large is
    /// dropped, and the message that would say so (ICMP, 'fragmentation needed') is filtered. Connecting and short messages work; the
    /// first full segment vanishes, each time that it is sent again, until the connection is given up or the kernel tries smaller ones.
    ///
    /// ## Evidence
    /// The same bytes were sent three times or more and never arrived, in segments each of which is larger than any
    /// that the same end got acknowledged. Charged is the time from when such bytes first left to when they were
    /// acknowledged, or given up.
    ///
    /// ## What proves it
    /// Smaller segments (TCP_MAXSEG, `advmss` on routes, or MTU probing): everything flows.
    ///
    /// ## Remedy
    /// Let ICMP through; or clamp the MSS where the tunnel begins (`TCPMSS --clamp-mss-to-pmtu`), set the MTU or `advmss` at the
    /// ends, or net.ipv4.tcp_mtu_probing=1.
    ///
    /// ## Not to be confused with
    /// loss-and-rto (segments of any size get lost, and arrive when they are sent again); a peer that is gone (small segments are
    /// lost as well).
    "P49" "mtu-blackhole",
    on_the_wire: true,
    needs: &[Tcp]
}

/// Bytes that are lost so often one after another are not lost by chance.
const TRIES: usize = 3;
/// What takes less of the requests' time than this is not what makes them slow.
const LEAST_SHARE: f64 = 0.05;

/// What a connection's own end sent in vain, and what it got through.
#[derive(Default)]
struct Sizes {
    /// The smallest segment that vanished in each of its tries.
    vanished: Option<u64>,
    /// The largest one that was acknowledged.
    passed: u64,
    /// From the first try to when the bytes were acknowledged, or the connection's end.
    stalls: Vec<(u64, u64)>,
    tries: usize,
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let (mut vanished, mut passed, mut tries) = (u64::MAX, 0, 0);
    let mut stalls: FxHashMap<usize, Vec<(u64, u64)>> = FxHashMap::default();
    for slot in 0..analysis.connections.all().len() {
        let Some(sizes) = sizes(analysis, slot) else { continue };
        let Some(smallest) = sizes.vanished else { continue };
        // A size that gets through on the same connection says that another thing is wrong.
        if sizes.passed >= smallest {
            return None;
        }
        (vanished, passed) = (vanished.min(smallest), passed.max(sizes.passed));
        tries += sizes.tries;
        stalls.insert(slot, sizes.stalls);
    }
    if stalls.is_empty() || passed == 0 || passed >= vanished {
        return None;
    }
    let (mut wall, mut affected, mut of_calls) = (0, 0, Vec::new());
    for exchange in &analysis.exchanges {
        let peer = analysis.connections.all()[exchange.connection].peer;
        let own = [Some(exchange.connection), peer].into_iter().flatten().filter_map(|slot| stalls.get(&slot));
        let spans = own.flatten().map(|&(from, to)| (from.max(exchange.start), to.min(exchange.end)));
        let spans = crate::spans::merge(spans.filter(|(from, to)| from < to).collect());
        let length: u64 = spans.iter().map(|(from, to)| to.saturating_sub(*from)).sum();
        wall += length;
        affected += u64::from(length > 0);
        let row = analysis.transfers(exchange).first().filter(|_| length > 0);
        of_calls.extend(row.map(|&row| (row as usize, length)));
    }
    if (wall as f64) < LEAST_SHARE * analysis.exchange_wall() as f64 || wall == 0 {
        return None;
    }
    let count = analysis.exchanges.len().max(1) as u64;
    let (part, each) = (Nanos(wall / count), Nanos(analysis.exchange_wall() / count));
    let place = costly_call(analysis, of_calls.iter().copied());
    let what = "Large segments vanish on the way, small ones get through".to_string();
    let connections = stalls.len() as u64;
    let mut times: Vec<(u64, u64)> = stalls.into_values().flatten().collect();
    times.sort_unstable();
    Some(Found {
        title: format!("{what}: {part} of every {each} request{}", place.in_words()),
        what,
        mechanism: vec![
            format!(
                "On {} {} bytes were sent {} times in segments of {} or more and did not arrive; the largest that got \
                 through had {}.",
                number::count(connections),
                if connections == 1 { "connection" } else { "connections" },
                number::count(tries as u64),
                Bytes(vanished),
                Bytes(passed),
            ),
            "No ICMP message said that they were too large.".to_string(),
        ],
        saving: PotentialSaving { wall, affected, ..PotentialSaving::default() },
        place,
        remedy: "Let ICMP through, clamp the MSS where a tunnel begins, set the MTU at the ends, or net.ipv4.tcp_mtu_probing=1."
            .to_string(),
        rows: rows("calls", of_calls.iter().map(|(row, _)| *row)),
        stalls: times,
        ..Found::default()
    })
}

fn sizes(analysis: &Analysis, slot: usize) -> Option<Sizes> {
    let row = analysis.connections.row(slot);
    let again = analysis.connections.events(slot).iter().filter(|one| one.event == event::RETRANSMIT);
    if row.transport != transport::TCP || again.count() + 1 < TRIES {
        return None;
    }
    let flow = Flow::new(analysis.connections.segments(slot));
    let known = flow.acknowledged.last().map_or(0, |last| last.to);
    let mut tries: FxHashMap<u64, Vec<(u64, u64)>> = FxHashMap::default();
    for sent in &flow.sent {
        tries.entry(sent.from).or_default().push((sent.time, sent.to - sent.from));
    }
    let mss = u64::from(row.mss).max(1);
    let mut sizes = Sizes::default();
    for (from, tries) in tries {
        let acknowledged = flow.acknowledged.iter().find(|one| one.to > from).map(|one| one.time);
        // The last one is that which arrived, if any did.
        let in_vain = if acknowledged.is_some() { &tries[..tries.len() - 1] } else { &tries[..] };
        if in_vain.len() < TRIES {
            if let (Some(_), [(_, size)]) = (acknowledged, &tries[..])
                && from.saturating_add(*size) <= known
            {
                sizes.passed = sizes.passed.max((*size).min(mss));
            }
            continue;
        }
        let smallest = in_vain.iter().map(|(_, size)| *size).min().unwrap_or_default();
        if arrived(analysis, slot, in_vain[0].0, acknowledged.unwrap_or(u64::MAX), smallest) {
            continue;
        }
        sizes.vanished = Some(sizes.vanished.map_or(smallest, |known: u64| known.min(smallest)));
        sizes.tries += in_vain.len();
        let given_up = acknowledged.unwrap_or(row.closed.0);
        sizes.stalls.extend((in_vain[0].0 < given_up).then_some((in_vain[0].0, given_up)));
    }
    Some(sizes)
}

/// Whether a segment of that size or a larger one arrived meanwhile; not where the receiver was not recorded.
fn arrived(analysis: &Analysis, slot: usize, from: u64, to: u64, size: u64) -> bool {
    let Some(peer) = analysis.connections.all()[slot].peer else { return false };
    let arrivals = analysis.connections.segments(peer);
    let first = arrivals.partition_point(|row| row.time.0 < from);
    let meanwhile = arrivals[first..].iter().take_while(|row| row.time.0 < to);
    meanwhile.filter(|row| row.direction == direction::IN).any(|row| u64::from(row.payload) >= size)
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, READ, SERVER, US, WRITE};
    use crate::tests::{answer, names};
    use case::tables::{Segment, TcpEvent, direction, event};
    use case::{Nanos, Recording};

    /// Ten connections, each with a short answer and one of this size, which is sent three times in vain if it is not to
    /// arrive, and then in two halves.
    fn answers(size: u32, arrives: bool) -> Recording {
        let mut fixture = Fixture::new();
        for id in 1..=10 {
            fixture.connect(id, CLIENT);
            for bytes in [200, size] {
                fixture.moves(CLIENT, id, WRITE, 20);
                let asked = fixture.now;
                fixture.travels(asked, id, id + 1000, 20);
                fixture.now += 10 * US;
                fixture.moves(SERVER, id + 1000, READ, 20);
                fixture.moves(SERVER, id + 1000, WRITE, i64::from(bytes));
                let mut leaves = fixture.now;
                if arrives || bytes == 200 {
                    fixture.travels(leaves, id + 1000, id, bytes);
                } else {
                    fixture.segment(leaves, id + 1000, direction::OUT, bytes);
                    let row = fixture.recording.segments.last().expect("it left").clone();
                    for wait in [200 * MS, 600 * MS] {
                        let time = Nanos(leaves + wait);
                        let event = event::RETRANSMIT;
                        let event = TcpEvent { time, connection: id + 1000, event, before: 0, after: 0 };
                        fixture.recording.tcp_events.push(event);
                        fixture.recording.segments.push(Segment { time, ..row.clone() });
                    }
                    leaves += 1_400 * MS;
                    for half in [0, 1] {
                        let (time, payload) = (Nanos(leaves + half * US), bytes / 2);
                        let sequence = row.sequence.wrapping_add(half as u32 * payload);
                        fixture.recording.segments.push(Segment { time, sequence, payload, ..row.clone() });
                        fixture.segment(leaves + (5 + half) * US, id, direction::IN, payload);
                    }
                }
                fixture.acknowledges(leaves + 10 * US, id, id + 1000);
                let waited = leaves + 30 * US - fixture.now;
                fixture.waits_for(CLIENT, id, waited, i64::from(bytes));
                fixture.now += MS;
            }
            fixture.close(id);
        }
        fixture.end()
    }

    #[test]
    fn large_segments_that_vanish_each_time_are_found() {
        let answer = answer(&answers(1_448, false));
        let finding = answer.findings.iter().find(|one| one.name == "mtu-blackhole").expect("it is found");
        assert_eq!(finding.cost.affected, 10);
        assert!((650 * MS..750 * MS).contains(&finding.cost.ns_per_exchange), "{:?}", finding.cost);
        assert!(answer.findings.iter().all(|one| one.name != "loss-and-rto"), "the more specific one is enough");
    }

    #[test]
    fn large_segments_that_arrive_and_small_ones_that_vanish_are_left_alone() {
        assert!(!names(&answers(1_448, true)).contains(&"mtu-blackhole".to_string()));
        assert!(!names(&answers(100, false)).contains(&"mtu-blackhole".to_string()));
    }
}
