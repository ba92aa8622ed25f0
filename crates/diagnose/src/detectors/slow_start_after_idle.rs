//! P24: a connection that was idle begins with a small congestion window again.

use super::{Found, costly_call, detector, median, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::flow::Flow;
use crate::number;
use case::tables::{event, transport};
use case::{Bytes, Nanos};

detector! {
    /// # slow-start-after-idle
    ///
    /// ## What it is
    /// A connection is kept open and used now and then. When it has been idle for longer than its retransmission time-out (200 ms
    /// at least), the kernel shrinks its congestion window, and the next long message begins with a few segments, waits a
    /// round trip, sends twice as many, and so on: it takes as long as on a new connection.
    ///
    /// ## Evidence
    /// After such a pause a sender stops after half of what it had in flight before, or less, with more to send, until an
    /// acknowledgement arrives; nothing was lost. Charged are these stops until as much is in flight as before.
    ///
    /// ## What proves it
    /// The window is kept: net.ipv4.tcp_slow_start_after_idle=0.
    ///
    /// ## Remedy
    /// `sysctl net.ipv4.tcp_slow_start_after_idle=0` at the sender; or BBR, which keeps its window and paces instead.
    ///
    /// ## Not to be confused with
    /// The slow start of a new connection; a socket's buffer of a fixed size (fixed-socket-buffers: each message stops at the
    /// same number of bytes, idle or not); loss-and-rto. Where the sender was not recorded this is not looked for.
    "P24" "slow-start-after-idle",
    needs: &[Server, Tcp]
}

/// Fewer messages are chance.
const REPEATED: usize = 3;
/// What takes less of the requests' time than this is not what makes them slow.
const LEAST_SHARE: f64 = 0.1;
/// The least retransmission time-out of the kernel (TCP_RTO_MIN): no window shrinks sooner.
const LEAST_IDLE: u64 = 200_000_000;

/// A message after a pause.
struct Restart {
    idle: u64,
    /// The connection's bytes in flight before the pause at most, and at the first stop after it.
    before: u64,
    after: u64,
    /// The stops.
    stops: Vec<(u64, u64)>,
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let mut restarts = Vec::new();
    for slot in 0..analysis.connections.all().len() {
        if analysis.connections.row(slot).transport == transport::TCP {
            restarts.extend(restarts_of(analysis, slot));
        }
    }
    if restarts.len() < REPEATED {
        return None;
    }
    let stops = crate::spans::merge(restarts.iter().flat_map(|one| one.stops.iter().copied()).collect());
    let (mut wall, mut affected, mut of_calls) = (0, 0, Vec::new());
    for exchange in &analysis.exchanges {
        let first = stops.partition_point(|stop| stop.1 <= exchange.start);
        let inside = stops[first..].iter().take_while(|stop| stop.0 < exchange.end);
        let length: u64 = inside.map(|&(from, to)| to.min(exchange.end).saturating_sub(from.max(exchange.start))).sum();
        wall += length;
        affected += u64::from(length > 0);
        let row = analysis.transfers(exchange).first().filter(|_| length > 0);
        of_calls.extend(row.map(|&row| (row as usize, length)));
    }
    if (wall as f64) < LEAST_SHARE * analysis.exchange_wall() as f64 {
        return None;
    }
    let count = analysis.exchanges.len().max(1) as u64;
    let (part, each) = (Nanos(wall / count), Nanos(analysis.exchange_wall() / count));
    let place = costly_call(analysis, of_calls.iter().copied());
    let what = "Connections that were idle begin with a small congestion window again".to_string();
    let middle = |of: fn(&Restart) -> u64| median(restarts.iter().map(of).collect());
    Some(Found {
        title: format!("{what}: {part} of every {each} request{}", place.in_words()),
        what,
        mechanism: vec![
            format!(
                "{} times a connection was idle (for a median of {}) and then stopped after {}, where it had had {} in flight \
                 before.",
                number::count(restarts.len() as u64),
                Nanos(middle(|one| one.idle)),
                Bytes(middle(|one| one.after)),
                Bytes(middle(|one| one.before)),
            ),
            "It had more to send and went on when an acknowledgement arrived; nothing was lost.".to_string(),
        ],
        saving: PotentialSaving { wall, affected, ..PotentialSaving::default() },
        place,
        remedy: "Set net.ipv4.tcp_slow_start_after_idle=0 at the sender, or use a congestion control that keeps its window (BBR)."
            .to_string(),
        rows: rows("calls", of_calls.iter().map(|(row, _)| *row)),
        stalls: stops,
        ..Found::default()
    })
}

/// The messages of a connection's own end that began small after a pause.
fn restarts_of(analysis: &Analysis, slot: usize) -> Vec<Restart> {
    let connections = &analysis.connections;
    let segments = connections.segments(slot);
    // Most connections never pause, and need no closer look.
    let pauses = segments.windows(2).filter(|pair| pair[1].time.0.saturating_sub(pair[0].time.0) >= LEAST_IDLE).count();
    if pauses == 0 || connections.all()[slot].unsent.is_empty() {
        return Vec::new();
    }
    let flow = Flow::new(segments);
    let stops = flow.pauses(&connections.all()[slot].unsent);
    let lost: Vec<u64> =
        connections.events(slot).iter().filter(|one| one.event == event::RETRANSMIT).map(|one| one.time.0).collect();
    let begins: Vec<usize> = (1..flow.sent.len())
        .filter(|&at| {
            let (last, next) = (flow.sent[at - 1], flow.sent[at]);
            next.time.saturating_sub(last.time) >= LEAST_IDLE
                && analysis.windows.is_whole(last.time, next.time)
                && next.under_way == next.to - next.from
        })
        .collect();
    let mut found = Vec::new();
    for (number, &at) in begins.iter().enumerate() {
        let (from, to) = (flow.sent[at].time, begins.get(number + 1).map_or(u64::MAX, |&next| flow.sent[next].time));
        let before = flow.sent[..at].iter().map(|sent| sent.under_way).max().unwrap_or_default();
        let own = stops.iter().filter(|stop| stop.from >= from && stop.to < to && stop.window < before);
        let own: Vec<_> = own.copied().collect();
        let has_lost = lost.iter().any(|time| (from..to).contains(time));
        if let Some(first) = own.first().filter(|first| first.window <= before / 2 && !has_lost) {
            let idle = from.saturating_sub(flow.sent[at - 1].time);
            let stops = own.iter().map(|stop| (stop.from, stop.to)).collect();
            found.push(Restart { idle, before, after: first.window, stops });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, READ, SERVER, US, WRITE};
    use crate::tests::{answer, names};
    use case::Recording;

    const ROUND_TRIP: u64 = 20 * MS;
    const SEGMENT: u32 = 1_448;

    /// Eight answers of forty segments over one connection, `idle` apart, in flights of so many segments each.
    fn answers(idle: u64, flights: &dyn Fn(u32) -> Vec<u32>) -> Recording {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        for number in 0..8 {
            let flights = flights(number);
            fixture.moves(CLIENT, 1, WRITE, 20);
            let asked = fixture.now;
            fixture.travels(asked, 1, 1001, 20);
            fixture.now += 10 * US;
            fixture.moves(SERVER, 1001, READ, 20);
            let bytes = i64::from(flights.iter().sum::<u32>() * SEGMENT);
            fixture.moves(SERVER, 1001, WRITE, bytes);
            let mut leaves = fixture.now;
            for segments in flights {
                for _ in 0..segments {
                    fixture.travels(leaves, 1001, 1, SEGMENT);
                    leaves += US;
                }
                leaves += ROUND_TRIP;
                fixture.acknowledges(leaves - 10 * US, 1, 1001);
            }
            let waited = leaves - fixture.now;
            fixture.waits_for(CLIENT, 1, waited, bytes);
            fixture.now += idle;
        }
        fixture.end()
    }

    #[test]
    fn answers_that_begin_small_after_each_pause_are_found() {
        let begins_small = answers(500 * MS, &|number| if number == 0 { vec![40] } else { vec![10, 20, 10] });
        let answer = answer(&begins_small);
        let finding = answer.findings.iter().find(|one| one.name == "slow-start-after-idle").expect("it is found");
        assert_eq!(finding.cost.affected, 7);
        assert!((30 * MS..40 * MS).contains(&finding.cost.ns_per_exchange), "{:?}", finding.cost);
    }

    #[test]
    fn a_window_that_is_kept_or_never_was_larger_and_pauses_that_are_short_are_left_alone() {
        let silent = [
            answers(500 * MS, &|_| vec![40]),
            answers(500 * MS, &|_| vec![10, 10, 10, 10]),
            answers(50 * MS, &|number| if number == 0 { vec![40] } else { vec![10, 20, 10] }),
        ];
        for recording in silent {
            assert!(!names(&recording).contains(&"slow-start-after-idle".to_string()));
        }
    }
}
