//! P68: a server takes an older version of TLS than its clients offer, with a round trip more.

use super::{Found, costly_call, detector, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::number;
use case::Nanos;

detector! {
    /// # older-tls
    ///
    /// ## What it is
    /// A full handshake takes two round trips in TLS 1.2 and before, and one in TLS 1.3. The clients offer TLS 1.3, and the server
    /// does not take it: it was told not to (nginx before 1.23 by default), or its library is too old.
    ///
    /// ## Evidence
    /// Full handshakes of TLS 1.2 or before whose client offered TLS 1.3. Charged is a round trip of each connection, a twentieth of the
    /// requests' time or more.
    ///
    /// ## What proves it
    /// The server's library without the limit that its program sets (`newest-tls`): the handshake takes a round trip less. A
    /// library that does not know TLS 1.3 cannot be made to.
    ///
    /// ## Remedy
    /// Let the server take TLS 1.3 (nginx: `ssl_protocols TLSv1.2 TLSv1.3`; OpenSSL 1.1.1 or later). Kept connections and resumed
    /// sessions take fewer round trips as well.
    ///
    /// ## Not to be confused with
    /// hello-retry (TLS 1.3 with a round trip more); chain-over-initial-window (a round trip more within the server's part);
    /// clients that do not offer TLS 1.3, of which nobody knows what the server would have taken.
    "P68" "older-tls",
    needs: &[Requests, Tcp]
}

/// TLS 1.3 on the wire.
const TLS_1_3: u16 = 0x0304;
/// Fewer handshakes are chance.
const REPEATED: usize = 3;
/// What takes less of the requests' time than this is not what makes them slow.
const LEAST_SHARE: f64 = 0.05;

fn detect(analysis: &Analysis) -> Option<Found> {
    let (mut of_calls, mut wall, mut handshakes) = (Vec::new(), 0_u64, 0_u64);
    for exchange in &analysis.exchanges {
        let is_first = exchange.set_up.as_deref().is_some_and(|set_up| set_up.handshake > 0);
        let handshake = analysis.connections.handshake(exchange.connection).filter(|_| is_first);
        let Some(handshake) = handshake else { continue };
        handshakes += 1;
        let is_older = handshake.version != 0 && handshake.version < TLS_1_3;
        if !is_older || handshake.resumed || !handshake.offers_1_3 {
            continue;
        }
        // A handshake of two round trips takes no longer than it took.
        let most = handshake.end.0.saturating_sub(handshake.start.0) / 2;
        let trip = analysis.connections.round_trip(exchange.connection).map_or(0, |trip| trip.min(most));
        wall += trip;
        of_calls.extend(analysis.transfers(exchange).first().map(|&row| (row as usize, trip)));
    }
    let whole = analysis.exchange_wall();
    if of_calls.len() < REPEATED || (wall as f64) < LEAST_SHARE * whole as f64 {
        return None;
    }
    let (count, affected) = (analysis.exchanges.len().max(1) as u64, of_calls.len() as u64);
    let place = costly_call(analysis, of_calls.iter().copied());
    let what =
        "The server picks TLS 1.2 or older though its clients offer TLS 1.3, which adds a round trip to each handshake"
            .to_string();
    Some(Found {
        title: format!("{what}: {} of every {} request{}", Nanos(wall / count), Nanos(whole / count), place.in_words()),
        what,
        mechanism: vec![format!(
            "In {} of {} handshakes the client offered TLS 1.3 and the server picked an older version, without a session to resume. A round \
             trip takes {}.",
            number::count(affected),
            number::count(handshakes),
            Nanos(wall / affected),
        )],
        saving: PotentialSaving { wall, affected, ..PotentialSaving::default() },
        place,
        remedy: "Let the server take TLS 1.3 (nginx: `ssl_protocols TLSv1.2 TLSv1.3`), keep connections, or resume sessions.".to_string(),
        rows: rows("calls", of_calls.iter().map(|(row, _)| *row)),
        ..Found::default()
    })
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, WRITE, request};
    use crate::tests::{answer, names};
    use case::Recording;
    use case::tables::Handshake;

    /// Ten connections over 20 ms of round trip with a handshake each, as `edit` makes it.
    fn handshakes(edit: impl Fn(&mut Handshake)) -> Recording {
        let mut fixture = Fixture::new();
        let mut idle = fixture.now;
        for id in 1..=10 {
            fixture.connect(id, CLIENT);
            let start = fixture.now;
            for _ in 0..2 {
                fixture.moves(CLIENT, id, WRITE, 500);
                fixture.waits_for(CLIENT, id, 20 * MS, 900);
            }
            fixture.handshake(id, CLIENT, start, |row| {
                (row.version, row.resumed, row.offers_1_3) = (0x0303, false, true);
                edit(row);
            });
            idle = idle.max(fixture.now - MS);
            request(&mut fixture, CLIENT, id, MS, &mut idle);
            fixture.close(id);
        }
        let mut recording = fixture.end();
        // What `request` sends takes no time: only the kernel's own figure tells of the round trip.
        recording.segments.clear();
        recording.connections.iter_mut().for_each(|row| row.srtt = case::Nanos(20 * MS));
        recording
    }

    #[test]
    fn tls_1_2_with_clients_that_offer_1_3_is_found_with_a_round_trip() {
        let answer = answer(&handshakes(|_| ()));
        let finding = answer.findings.iter().find(|one| one.name == "older-tls").expect("it is found");
        assert_eq!(finding.cost.affected, 10);
        assert!((15 * MS..21 * MS).contains(&finding.cost.ns_per_exchange), "{:?}", finding.cost);
    }

    #[test]
    fn newer_resumed_and_unoffered_ones_are_left_alone() {
        let is_found = |edit: fn(&mut Handshake)| names(&handshakes(edit)).contains(&"older-tls".to_string());
        assert!(!is_found(|row| row.version = 0x0304));
        assert!(!is_found(|row| row.resumed = true));
        assert!(!is_found(|row| row.offers_1_3 = false));
    }
}
