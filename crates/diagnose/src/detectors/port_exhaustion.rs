//! P48: no local port is left for another connection.

use super::{Found, costly_call, detector, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::number;
use crate::pauses::sleep_after;
use crate::syscall;
use crate::threads::call_end;
use case::Nanos;

detector! {
    /// # port-exhaustion
    ///
    /// ## What it is
    /// Each connection takes a local port, and keeps it for a minute after its end if this side closed first (TIME_WAIT). Whoever
    /// opens connections to one server faster than that runs out of ports: connect fails with EADDRNOTAVAIL, and the program
    /// sleeps and tries again, or fails.
    ///
    /// ## Evidence
    /// Calls of connect that failed with EADDRNOTAVAIL, three or more; what they and the sleeps after them take.
    ///
    /// ## What proves it
    /// Connections that end without TIME_WAIT (`no-time-wait`): their ports are free at once, and connects succeed. The host's
    /// settings (net.ipv4.ip_local_port_range, net.ipv4.tcp_tw_reuse) are not touched.
    ///
    /// ## Remedy
    /// Keep connections and reuse them (keep-alive, a pool). Until then allow more ports, or reuse those in TIME_WAIT.
    ///
    /// ## Not to be confused with
    /// Ports of a server that are taken (EADDRINUSE at bind); a server that refuses (ECONNREFUSED); a full conntrack table.
    "P48" "port-exhaustion",
    needs: &[Tcp]
}

/// Fewer failures are an incident.
const REPEATED: usize = 3;

fn detect(analysis: &Analysis) -> Option<Found> {
    let connects = analysis.calls_of(|number| number == syscall::CONNECT);
    let failed: Vec<usize> = connects.filter(|(_, call)| call.result == syscall::NO_PORT).map(|(row, _)| row).collect();
    if failed.len() < REPEATED {
        return None;
    }
    let mut saving = PotentialSaving { affected: failed.len() as u64, ..PotentialSaving::default() };
    let mut costs: Vec<(usize, u64)> = Vec::new();
    let mut slept_until = 0;
    for &row in &failed {
        let call = analysis.call(row);
        let mut length = call.duration.0;
        charge(analysis, &mut saving, call.tid, call.start.0, call_end(call));
        // Several that fail before one sleep share it.
        let sleep = sleep_after(analysis, call.tid, call_end(call)).map(|row| analysis.call(row));
        if let Some(sleep) = sleep.filter(|sleep| sleep.start.0 >= slept_until) {
            slept_until = call_end(sleep);
            length += sleep.duration.0;
            charge(analysis, &mut saving, sleep.tid, sleep.start.0, slept_until);
        }
        costs.push((row, length));
    }
    let place = costly_call(analysis, costs);
    let count = analysis.exchanges.len().max(1) as u64;
    let what = "Connections cannot be opened because no local port is free".to_string();
    Some(Found {
        title: format!("{what}: {} per request{}", Nanos((saving.wall + saving.outside) / count), place.in_words()),
        what,
        mechanism: vec![format!(
            "connect failed {} times with EADDRNOTAVAIL. Ports of connections that this side closed stay taken for a minute \
             (TIME_WAIT).",
            number::count(failed.len() as u64),
        )],
        saving,
        place,
        remedy: "Keep connections and reuse them; until then allow more ports (net.ipv4.ip_local_port_range), or reuse those in \
                 TIME_WAIT (net.ipv4.tcp_tw_reuse)."
            .to_string(),
        rows: rows("calls", failed),
        ..Found::default()
    })
}

fn charge(analysis: &Analysis, saving: &mut PotentialSaving, tid: u32, from: u64, to: u64) {
    let (inside, outside) = analysis.split(tid, from, to);
    saving.wall += inside;
    saving.outside += outside;
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, CONNECT, Fixture, MS, US, request};
    use crate::syscall;
    use crate::tests::{answer, names};
    use case::Recording;

    const NANOSLEEP: u16 = 35;

    /// Ten requests on a connection each, before each of which connect fails like this and the client sleeps.
    fn connecting(result: i64) -> Recording {
        let mut fixture = Fixture::new();
        let mut idle = fixture.now;
        for id in 1..=10 {
            fixture.does(CLIENT, 20 * US, CONNECT, |call| call.result = result);
            fixture.waits(CLIENT, 100 * MS, NANOSLEEP, |_| ());
            fixture.connect(id, CLIENT);
            idle = idle.max(fixture.now - US);
            request(&mut fixture, CLIENT, id, 100 * US, &mut idle);
            fixture.close(id);
        }
        fixture.end()
    }

    #[test]
    fn connects_that_find_no_port_and_the_sleeps_after_them_are_found() {
        let answer = answer(&connecting(syscall::NO_PORT));
        let finding = answer.findings.iter().find(|finding| finding.name == "port-exhaustion").expect("found");
        assert!((99 * MS..102 * MS).contains(&finding.cost.ns_per_exchange), "{:?}", finding.cost);
        assert!(finding.mechanism[0].contains("failed 10 times"), "{:?}", finding.mechanism);
    }

    #[test]
    fn connects_that_are_refused_are_something_else() {
        const REFUSED: i64 = -111;
        assert!(!names(&connecting(REFUSED)).contains(&"port-exhaustion".to_string()));
    }
}
