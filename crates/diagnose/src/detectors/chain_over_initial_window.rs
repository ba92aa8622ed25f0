//! P14: a server's part of a TLS handshake does not fit into the first flight of a connection.

use super::{Found, costly_call, detector, median, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::connections::End;
use crate::flow::Flow;
use case::{Bytes, Nanos};

detector! {
    /// # chain-over-initial-window
    ///
    /// ## What it is
    /// The first segments of a connection that may leave before anything is acknowledged are 10: about 14 kB at an MTU of 1,500.
    /// A chain of certificates that is longer takes one round trip more, in each full handshake.
    ///
    /// ## Evidence
    /// In the middle of its part of the handshake the server stops, with its first flight of segments in flight and more to
    /// send, until the client's acknowledgement arrives. Charged is that stop.
    ///
    /// ## What proves it
    /// A larger first flight (`initcwnd` on the route): the handshake takes a round trip less.
    ///
    /// ## Remedy
    /// A shorter chain: send no root, no intermediate that clients have, fewer names in a certificate, keys on elliptic curves;
    /// or `ip route change ... initcwnd 20` at the server. Sessions that are resumed send no chain.
    ///
    /// ## Not to be confused with
    /// slow-key-type (the server computes), loss (the segment is sent again), the second round trip of TLS 1.2. Where the server
    /// was not recorded this is not looked for.
    "P14" "chain-over-initial-window",
    needs: &[Server, Tcp]
}

/// Fewer handshakes are chance.
const REPEATED: usize = 3;
/// What takes less of the requests' time than this is not what makes them slow.
const LEAST_SHARE: f64 = 0.05;
/// Nobody sends more before the first acknowledgement; Linux sends 10 segments (RFC 6928), some servers are set to 32.
const LARGEST_FIRST_FLIGHT: u64 = 33;

/// A handshake that stopped.
struct Stop {
    from: u64,
    to: u64,
    /// Bytes of the first flight, and of the server's whole part.
    flight: u64,
    bytes: u64,
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let (mut stops, mut of_calls) = (Vec::new(), Vec::new());
    for exchange in &analysis.exchanges {
        let own = exchange.connection;
        let (Some(set_up), Some(peer)) = (exchange.set_up.as_deref(), analysis.connections.all()[own].peer) else {
            continue;
        };
        let server = if exchange.end_seen == End::Server { own } else { peer };
        if set_up.handshake == 0 {
            continue;
        }
        if let Some(stop) = stop(analysis, server, set_up.application) {
            let row = analysis.transfers(exchange).first();
            of_calls.extend(row.map(|&row| (row as usize, stop.to.saturating_sub(stop.from))));
            stops.push(stop);
        }
    }
    let wall: u64 = stops.iter().map(|stop| stop.to.saturating_sub(stop.from)).sum();
    if stops.len() < REPEATED || (wall as f64) < LEAST_SHARE * analysis.exchange_wall() as f64 {
        return None;
    }
    let count = analysis.exchanges.len().max(1) as u64;
    let (part, each) = (Nanos(wall / count), Nanos(analysis.exchange_wall() / count));
    let place = costly_call(analysis, of_calls.iter().copied());
    let bytes = Bytes(median(stops.iter().map(|stop| stop.bytes).collect()));
    let flight = Bytes(median(stops.iter().map(|stop| stop.flight).collect()));
    let what =
        format!("The server's certificates do not fit into the first flight of a connection: {bytes} of handshake");
    Some(Found {
        title: format!("{what}, {part} of every {each} request{}", place.in_words()),
        what,
        mechanism: vec![format!(
            "In {} handshakes the server stopped after {flight}, had more to send, and went on when the client's acknowledgement \
             arrived, a median of {} later.",
            stops.len(),
            Nanos(median(stops.iter().map(|stop| stop.to.saturating_sub(stop.from)).collect())),
        )],
        saving: PotentialSaving { wall, affected: stops.len() as u64, ..PotentialSaving::default() },
        place,
        remedy: "Send a shorter chain (no root, fewer names, keys on elliptic curves), resume sessions, or let more leave at once: \
                 `initcwnd 20` on the server's route."
            .to_string(),
        rows: rows("calls", of_calls.iter().map(|(row, _)| *row)),
        stalls: stops.iter().map(|stop| (stop.from, stop.to)).collect(),
        ..Found::default()
    })
}

/// Where a server's end stopped in its first flight, before the handshake was over.
fn stop(analysis: &Analysis, server: usize, handshake_end: u64) -> Option<Stop> {
    let flow = Flow::new(analysis.connections.segments(server));
    let within = flow.sent.partition_point(|sent| sent.time <= handshake_end);
    if within < 2 || flow.sent[..within].iter().any(|sent| sent.before.is_some()) {
        return None;
    }
    let most = LARGEST_FIRST_FLIGHT * u64::from(analysis.connections.row(server).mss);
    let first =
        flow.pauses(&analysis.connections.all()[server].unsent).into_iter().find(|pause| pause.to <= handshake_end)?;
    // The first flight is that before which nothing was acknowledged.
    let is_first = flow.acknowledged.first().is_some_and(|one| one.time > first.from);
    let bytes = flow.sent[within - 1].to;
    (is_first && first.window <= most).then_some(Stop { from: first.from, to: first.to, flight: first.window, bytes })
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, SERVER, US, WRITE, request};
    use crate::tests::{answer, names};
    use case::Recording;

    const ROUND_TRIP: u64 = 20 * MS;

    /// Ten connections with a handshake each, the server's part of it in flights of so many segments.
    fn handshakes(flights: &[u32]) -> Recording {
        let mut fixture = Fixture::new();
        let mut idle = fixture.now;
        for id in 1..=10 {
            fixture.connect(id, CLIENT);
            let start = fixture.now;
            fixture.moves(CLIENT, id, WRITE, 500);
            fixture.travels(start, id, id + 1000, 500);
            let bytes = i64::from(flights.iter().sum::<u32>() * 1_448);
            fixture.moves(SERVER, id + 1000, WRITE, bytes);
            let mut leaves = fixture.now;
            for segments in flights {
                for _ in 0..*segments {
                    fixture.travels(leaves, id + 1000, id, 1_448);
                    leaves += US;
                }
                leaves += ROUND_TRIP;
                fixture.acknowledges(leaves - 10 * US, id, id + 1000);
            }
            let waited = leaves - fixture.now;
            fixture.waits_for(CLIENT, id, waited, bytes);
            fixture.handshake(id, CLIENT, start, |_| ());
            idle = idle.max(fixture.now - MS);
            request(&mut fixture, CLIENT, id, 300 * US, &mut idle);
            fixture.close(id);
        }
        fixture.end()
    }

    #[test]
    fn a_chain_that_takes_two_flights_is_found() {
        let answer = answer(&handshakes(&[10, 6]));
        let finding = answer.findings.iter().find(|one| one.name == "chain-over-initial-window").expect("it is found");
        assert_eq!(finding.cost.affected, 10);
        assert!((19 * MS..22 * MS).contains(&finding.cost.ns_per_exchange), "{:?}", finding.cost);
    }

    #[test]
    fn a_chain_that_fits_is_left_alone() {
        assert!(!names(&handshakes(&[4])).contains(&"chain-over-initial-window".to_string()));
    }
}
