//! How long a trial's exchanges took, on a real kernel. Needs root; without it the test says so and passes.

use crate::fixture::is_root;
use crate::running::{alone, patient};
use lab::{Extent, Journal, Laboratory, Subject, Treatment, World};
use std::time::Duration;

/// Waits 2 ms for 95 of 100 answers, and 50 ms for five.
const SLOW_AT_TIMES: &str = "
import socket, threading, time
listener = socket.create_server(('127.0.0.1', 0))
client = socket.create_connection(listener.getsockname())
server, _ = listener.accept()
def serve():
    for request in range(200):
        server.recv(8)
        time.sleep(0.05 if request % 20 == 7 else 0.002)
        server.send(b'answer')
threading.Thread(target=serve).start()
for request in range(200):
    client.send(b'question')
    client.recv(8)
";

#[test]
fn the_row_of_a_trial_tells_how_long_half_and_nearly_all_of_its_exchanges_took() {
    let _alone = alone();
    if !is_root() {
        return;
    }
    let journal = Journal::open().expect("a journal");
    let words = ["/usr/bin/python3", "-c", SLOW_AT_TIMES].map(ToString::to_string).to_vec();
    let subject = Subject { client: words, ..Subject::default() };
    let whole =
        Extent { warm_up: 0, exchanges: None, window: None, least: Duration::ZERO, longest: Duration::from_mins(1) };
    // What is dropped at the beginning is not in the quantiles either: the seventh is slow.
    for (extent, exchanges) in [(whole, 200), (Extent { warm_up: 20, ..whole }, 180)] {
        let mut wait = patient;
        let mut laboratory = Laboratory::open(&journal, None, &mut wait).expect("opened");
        let outcome = laboratory.run(&subject, &World::default(), &Treatment::default(), &extent).expect("run");
        let row = outcome.row;
        assert!(row.exchanges.abs_diff(exchanges) <= 3, "{row:?}");
        let [half, most, nearly_all] =
            [row.exchange_p50, row.exchange_p95, row.exchange_p99].map(case::Nanos::milliseconds);
        assert!((1.9..20.0).contains(&half) && half <= most && most <= nearly_all, "{row:?}");
        // A machine that stands still for a moment lengthens some of them.
        assert!((48.0..500.0).contains(&nearly_all), "{row:?}");
    }
}
