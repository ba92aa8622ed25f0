//! P67: a TLS server asks for another key share than the one that the client sent.

use super::{Found, costly_call, detector, median, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::number;
use case::Nanos;

detector! {
    /// # hello-retry
    ///
    /// ## What it is
    /// In TLS 1.3 a client sends a key share with its first message, for the group that it likes best. A server that takes only
    /// other groups asks again (HelloRetryRequest), and the handshake takes a round trip more, and a second pair of hellos.
    ///
    /// ## Evidence
    /// Handshakes in which the server's first answer is a HelloRetryRequest. Charged is the time from the client's first hello to its
    /// second one: a twentieth of the requests' time or more.
    ///
    /// ## What proves it
    /// The library's own list of groups in place of one that a program sets (`default-groups`): where such a list is the reason,
    /// nobody asks again.
    ///
    /// ## Remedy
    /// Have both ends like the same group best: X25519 and P-256 are what clients send (nginx: `ssl_ecdh_curve`, OpenSSL:
    /// `Groups`); a client can name the server's group first (curl: `--curves`). Kept connections shake hands once.
    ///
    /// ## Not to be confused with
    /// chain-over-initial-window (a round trip more within the server's part), the second round trip of TLS 1.2, slow-key-type (the
    /// group itself takes long to compute).
    "P67" "hello-retry",
    needs: &[Requests]
}

/// Fewer handshakes are chance.
const REPEATED: usize = 3;
/// What takes less of the requests' time than this is not what makes them slow.
const LEAST_SHARE: f64 = 0.05;

fn detect(analysis: &Analysis) -> Option<Found> {
    let (mut retries, mut of_calls, mut handshakes) = (Vec::new(), Vec::new(), 0_u64);
    for exchange in analysis.exchanges.iter().filter(|exchange| exchange.set_up.is_some()) {
        let Some(handshake) = analysis.connections.handshake(exchange.connection) else { continue };
        handshakes += 1;
        let (from, to) = (handshake.start.0, handshake.second_hello.0);
        if from < to {
            retries.push((from, to));
            of_calls.extend(analysis.transfers(exchange).first().map(|&row| (row as usize, to - from)));
        }
    }
    let wall: u64 = retries.iter().map(|(from, to)| to - from).sum();
    let whole = analysis.exchange_wall();
    if retries.len() < REPEATED || (wall as f64) < LEAST_SHARE * whole as f64 {
        return None;
    }
    let count = analysis.exchanges.len().max(1) as u64;
    let place = costly_call(analysis, of_calls.iter().copied());
    let what = "The server asks the client for another key share in TLS handshakes (HelloRetryRequest)".to_string();
    Some(Found {
        title: format!("{what}: {} of every {} request{}", Nanos(wall / count), Nanos(whole / count), place.in_words()),
        what,
        mechanism: vec![format!(
            "In {} of {} handshakes the client had to send a second hello, with a key share for another group, a median of {} after \
             its first.",
            number::count(retries.len() as u64),
            number::count(handshakes),
            Nanos(median(retries.iter().map(|(from, to)| to - from).collect())),
        )],
        saving: PotentialSaving { wall, affected: retries.len() as u64, ..PotentialSaving::default() },
        place,
        remedy: "Let the server take the group that its clients send first (X25519, P-256), or let the client send the server's first; \
                 keep connections."
            .to_string(),
        rows: rows("calls", of_calls.iter().map(|(row, _)| *row)),
        stalls: retries,
        ..Found::default()
    })
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, WRITE, request};
    use crate::tests::{answer, names};
    use case::{Nanos, Recording};

    /// Ten connections with a handshake each of two round trips, in the first of which the server asks again or not.
    fn handshakes(is_asked_again: bool) -> Recording {
        let mut fixture = Fixture::new();
        let mut idle = fixture.now;
        for id in 1..=10 {
            fixture.connect(id, CLIENT);
            let start = fixture.now;
            fixture.moves(CLIENT, id, WRITE, 500);
            fixture.waits_for(CLIENT, id, 20 * MS, 100);
            let second = if is_asked_again { fixture.now } else { 0 };
            fixture.moves(CLIENT, id, WRITE, 600);
            fixture.waits_for(CLIENT, id, 20 * MS, 2_000);
            fixture.handshake(id, CLIENT, start, |row| row.second_hello = Nanos(second));
            idle = idle.max(fixture.now - MS);
            request(&mut fixture, CLIENT, id, MS, &mut idle);
            fixture.close(id);
        }
        fixture.end()
    }

    #[test]
    fn a_second_hello_in_each_handshake_is_found_with_what_it_took() {
        let answer = answer(&handshakes(true));
        let finding = answer.findings.iter().find(|one| one.name == "hello-retry").expect("it is found");
        assert_eq!(finding.cost.affected, 10);
        assert!((19 * MS..21 * MS).contains(&finding.cost.ns_per_exchange), "{:?}", finding.cost);
        assert!(finding.mechanism[0].starts_with("In 10 of 10 handshakes"), "{:?}", finding.mechanism);
    }

    #[test]
    fn two_round_trips_of_which_none_is_asked_for_again_are_left_alone() {
        assert!(!names(&handshakes(false)).contains(&"hello-retry".to_string()));
    }
}
