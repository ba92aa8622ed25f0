//! P69: the kernel's settings for the buffers of TCP let less be in flight than the path takes.

use super::fixed_socket_buffers::Limits;
use super::{Found, detector, median, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::exchange::Exchange;
use crate::flow::Flow;
use crate::number;
use crate::spans;
use crate::stops::{self, Stop};
use crate::syscall;
use case::tables::{limit, transport};
use case::{Bytes, End, Nanos};
use rustc_hash::FxHashMap;

detector! {
    /// # small-kernel-buffers
    ///
    /// ## What it is
    /// The kernel lets a socket's buffers grow as needed, up to what its settings allow (net.ipv4.tcp_wmem and tcp_rmem, the
    /// third figure; without net.ipv4.tcp_window_scaling no window is larger than 65,535 bytes). Where that is less than bandwidth
    /// times round trip, a transfer gets no further than a buffer in each round trip.
    ///
    /// ## Evidence
    /// In the middle of messages the sender stops until an acknowledgement comes, with about as many bytes in flight each time; the
    /// kernel itself counts what it waits for: the receiver's window, or room in its own send buffer (`tcpi_rwnd_limited`,
    /// `tcpi_sndbuf_limited`). Acknowledgements take as long as the shortest did, so that no queue holds the bytes up. No program has
    /// set a buffer's size. The first round trips of a message are left out: buffers grow then.
    ///
    /// ## What proves it
    /// Larger limits in the namespaces of `--link` (`large-kernel-buffers`): the waits are gone.
    ///
    /// ## Remedy
    /// Raise the third figure of the setting to twice bandwidth times round trip, at the end that is named, and leave window
    /// scaling on.
    ///
    /// ## Not to be confused with
    /// fixed-socket-buffers (the program sets the size); app-window-below-bdp (HTTP/2's own windows); slow-reader, in which the
    /// receiver does not read; a congestion window, which grows until something gets lost.
    "P69" "small-kernel-buffers",
    needs: &[Tcp]
}

/// Fewer stops are chance.
const REPEATED: usize = 10;
/// What takes less of the requests' time than this is not what makes them slow.
const LEAST_SHARE: f64 = 0.1;
/// Over shorter ways, in nanoseconds, waits for acknowledgements are the scheduler's.
const SHORTEST_ROUND_TRIP: u64 = 1_000_000;
/// So many round trips of a message are left out: buffers are doubled in each as they grow.
const GROWING: u64 = 4;
/// Half of the acknowledgements take no longer than this many times the shortest: else a queue is what the bytes wait in.
const QUEUED: f64 = 1.3;
/// So many of the stops have as much in flight as half of them,
const MOSTLY: f64 = 0.8;
/// but for this part: a segment more or less.
const EVEN: f64 = 0.15;
/// So many of a message's stops the kernel attributes to the limit: as soon as an acknowledgement has made room, it is the network again.
const ATTRIBUTED: f64 = 0.3;
/// A receiver with a window that fits without scaling is woken for each of few segments.
const SMALL: u64 = 65_535;

/// Stops of a sender for want of room, and the end whose buffer is too small.
struct Held {
    stop: Stop,
    end: End,
    round_trip: u64,
    /// The call that wrote what was held, where one was blocked.
    wrote: Option<usize>,
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let kinds = [limit::WINDOW, limit::BUFFER];
    if !analysis.recording.segments.iter().any(|segment| kinds.contains(&segment.limit)) {
        return None;
    }
    let set = Limits::new(analysis);
    let found = kinds.into_iter().filter_map(|kind| of_kind(analysis, &set, kind));
    found.max_by_key(|found| found.saving.wall)
}

fn of_kind(analysis: &Analysis, set: &Limits, kind: u8) -> Option<Found> {
    let (mut held, mut wall, mut affected): (Vec<Held>, u64, u64) = (Vec::new(), 0, 0);
    let mut flows: FxHashMap<usize, Flow> = FxHashMap::default();
    for exchange in &analysis.exchanges {
        let ends = [Some(exchange.connection), analysis.connections.all()[exchange.connection].peer];
        if ends.into_iter().flatten().any(|slot| set.is_set(analysis, slot)) {
            continue;
        }
        let mut kept = Vec::new();
        for sender in ends.into_iter().flatten().filter(|&sender| is_far(analysis, sender)) {
            let flow = flows.entry(sender).or_insert_with(|| Flow::new(analysis.connections.segments(sender)));
            let stops = stops_of(analysis, exchange, sender, flow, kind);
            kept.extend(stops.first().zip(stops.last()).map(|(first, last)| (first.stop.from, last.stop.to)));
            held.extend(stops);
        }
        let waited = spans::length(spans::merge(kept).into_iter());
        wall += waited;
        affected += u64::from(waited > 0);
    }
    let usual = median(held.iter().map(|one| one.stop.under_way).collect());
    let is_even = |one: &&Held| one.stop.under_way.abs_diff(usual) as f64 <= EVEN * usual as f64;
    let even = held.iter().filter(is_even).count();
    let counts = held.len() >= REPEATED && even as f64 >= MOSTLY * held.len() as f64;
    (counts && wall as f64 >= LEAST_SHARE * analysis.exchange_wall() as f64)
        .then(|| found(analysis, kind, &held, usual, wall, affected))
}

fn is_far(analysis: &Analysis, sender: usize) -> bool {
    let round_trip = analysis.connections.round_trip(sender).unwrap_or_default();
    analysis.connections.row(sender).transport == transport::TCP && round_trip >= SHORTEST_ROUND_TRIP
}

/// The stops of a sender within an exchange that the kernel attributes to one kind of limit, but for the first round trips of a message; none
/// where it attributes far more of them to something else. All that lies between them is at the pace of the acknowledgements.
fn stops_of(analysis: &Analysis, exchange: &Exchange, sender: usize, flow: &Flow, kind: u8) -> Vec<Held> {
    let connections = &analysis.connections;
    let receiver = connections.all()[sender].peer;
    let round_trip = connections.round_trip(sender).unwrap_or_default();
    let first = flow.sent.partition_point(|sent| sent.time < exchange.start);
    let Some(begun) = flow.sent.get(first).map(|sent| sent.time) else { return Vec::new() };
    let first = flow.acknowledged.partition_point(|one| one.time < begun);
    let last = flow.acknowledged.partition_point(|one| one.time <= exchange.end);
    let took = flow.acknowledged[first.min(last)..last].iter().filter_map(|one| one.round_trip).collect();
    if median(took) as f64 > QUEUED * round_trip as f64 {
        return Vec::new();
    }
    let is_kept = |stop: &Stop| {
        let is_read =
            |receiver| stops::waits_for_data(analysis, receiver, stop.under_way <= SMALL, stop.from, stop.acknowledged);
        // Where the receiver was not recorded, it may be that it does not read.
        let is_read = kind == limit::BUFFER || receiver.is_some_and(is_read);
        stop.limit == kind && is_read
    };
    let has_grown = |stop: &Stop| stop.from >= begun.saturating_add(GROWING * round_trip);
    let end = analysis.end(if kind == limit::BUFFER { sender } else { receiver.unwrap_or(sender) });
    let wrote = |stop: &Stop| {
        let transfers = connections.transfer_numbers(sender);
        let begun = transfers.partition_point(|&row| analysis.call(row as usize).start.0 <= stop.from);
        let mut writes = transfers[..begun].iter().map(|&row| row as usize);
        writes.rfind(|&row| syscall::is_write(analysis.call(row).number))
    };
    let (kept, others): (Vec<Stop>, Vec<Stop>) =
        stops::within(analysis, exchange, sender).into_iter().filter(has_grown).partition(is_kept);
    if (kept.len() as f64) < ATTRIBUTED * (kept.len() + others.len()) as f64 {
        return Vec::new();
    }
    kept.into_iter().map(|stop| Held { wrote: wrote(&stop), stop, end, round_trip }).collect()
}

fn found(analysis: &Analysis, kind: u8, held: &[Held], usual: u64, wall: u64, affected: u64) -> Found {
    let whose = if held[0].end == End::Server { "server" } else { "client" };
    let (buffer, setting, counted) = match kind {
        limit::WINDOW => ("receive buffers", "net.ipv4.tcp_rmem", "for the receiver's window"),
        _ => ("send buffers", "net.ipv4.tcp_wmem", "for room in the send buffer"),
    };
    let round_trip = median(held.iter().map(|one| one.round_trip).collect());
    let in_flight = Bytes(usual);
    let requests = analysis.exchanges.len().max(1) as u64;
    let what = format!("The kernel's limit on the {whose}'s {buffer} ({setting}) lets only {in_flight} be in flight");
    Found {
        title: format!(
            "{what}: the sender waits for {} of every {} request",
            Nanos(wall / requests),
            Nanos(analysis.exchange_wall() / requests)
        ),
        what,
        mechanism: vec![
            format!(
                "{} times the sender stopped in the middle of a message, with {in_flight} in flight in half of them, until \
                 some of these were acknowledged; a round trip takes {}. By the kernel's own account it waited {counted}; no program has set \
                 a buffer's size.",
                number::count(held.len() as u64),
                Nanos(round_trip)
            ),
            format!(
                "However fast the path is, a transfer gets no further than that in each round trip: {} a second.",
                Bytes((usual as f64 * 1e9 / round_trip.max(1) as f64) as u64)
            ),
        ],
        saving: PotentialSaving { wall, affected, ..PotentialSaving::default() },
        remedy: format!(
            "Raise the third figure of {setting} on the {whose}'s machine to twice bandwidth times round trip (sysctl), and leave \
             net.ipv4.tcp_window_scaling on."
        ),
        rows: rows("calls", held.iter().filter_map(|one| one.wrote)),
        stalls: held.iter().map(|one| (one.stop.from, one.stop.to)).collect(),
        ..Found::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, READ, SERVER, US, WRITE};
    use crate::tests::{answer, names};
    use case::Recording;
    use case::tables::{direction, limit};

    const SETSOCKOPT: u16 = 54;
    const ROUND_TRIP: u64 = 20 * MS;

    /// Three requests, for each of which the server sends twelve flights of so many bytes, each once the one before it is acknowledged,
    /// which the kernel attributes to `limit`; it sets a buffer itself, or not.
    fn flights(limit: u8, bytes: impl Fn(u32) -> u32, sets: bool) -> Recording {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        if sets {
            fixture.does(SERVER, 5 * US, SETSOCKOPT, |call| {
                (call.connection, call.argument_1, call.argument_2, call.argument_3) = (1001, 1, 7, 30_000);
            });
        }
        let arrives = |fixture: &mut Fixture, at: u64, connection: u32, payload: u32| {
            fixture.segment(at, connection, direction::IN, payload);
            fixture.recording.segments.last_mut().expect("it").limit = limit;
        };
        for _ in 0..3 {
            let start = fixture.now;
            fixture.moves(CLIENT, 1, WRITE, 200);
            fixture.segment(start + 3 * US, 1, direction::OUT, 200);
            fixture.segment(start + ROUND_TRIP / 2, 1001, direction::IN, 200);
            fixture.now = start + ROUND_TRIP / 2 + 10 * US;
            fixture.moves(SERVER, 1001, READ, 200);
            let written = fixture.now;
            let whole: u32 = (0..12).map(&bytes).sum();
            for flight in 0..12 {
                let leaves = written + 5 * US + u64::from(flight) * ROUND_TRIP;
                fixture.segment(leaves, 1001, direction::OUT, bytes(flight));
                fixture.segment(leaves + ROUND_TRIP / 2, 1, direction::IN, bytes(flight));
                fixture.segment(leaves + ROUND_TRIP / 2 + US, 1, direction::OUT, 0);
                arrives(&mut fixture, leaves + ROUND_TRIP - 20 * US, 1001, 0);
            }
            let length = 12 * ROUND_TRIP - 100 * US;
            fixture.waits(SERVER, length, WRITE, |call| (call.connection, call.result) = (1001, i64::from(whole)));
            let end = fixture.now;
            fixture.now = start + 5 * US;
            fixture.waits_for(CLIENT, 1, end - fixture.now, i64::from(whole));
            fixture.now = end + MS;
        }
        fixture.end()
    }

    fn is_found(recording: &Recording) -> bool {
        names(recording).contains(&"small-kernel-buffers".to_string())
    }

    #[test]
    fn even_flights_that_wait_for_room_are_found_with_the_setting() {
        for (limit, said) in [
            (limit::BUFFER, "The kernel's limit on the server's send buffers (net.ipv4.tcp_wmem)"),
            (limit::WINDOW, "The kernel's limit on the client's receive buffers (net.ipv4.tcp_rmem)"),
        ] {
            let answer = answer(&flights(limit, |_| 30_000, false));
            let finding = answer.findings.iter().find(|one| one.name == "small-kernel-buffers").expect("found");
            assert!(finding.title.starts_with(said) && finding.title.contains("30 kB"), "{}", finding.title);
            assert!(finding.mechanism[1].ends_with("1502 kB a second."), "{:?}", finding.mechanism);
            // Of eleven stops the first four are left out.
            assert!((0.5..0.65).contains(&finding.cost.share_of_wall), "{:?}", finding.cost);
        }
    }

    #[test]
    fn flights_that_grow_that_the_network_holds_or_a_program_are_left_alone() {
        assert!(!is_found(&flights(limit::BUFFER, |flight| 10_000 + 5_000 * flight, false)), "they grow");
        assert!(!is_found(&flights(limit::NETWORK, |_| 30_000, false)), "a congestion window");
        assert!(!is_found(&flights(limit::BUFFER, |_| 30_000, true)), "the program's own");
    }
}
