//! P58: a call that looks at thousands of descriptors to find one.

use super::{Found, costly_call, detector, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::code::base_name;
use crate::images::Images;
use crate::number;
use crate::threads::{busy_part, call_end};
use case::tables::Call;
use case::{Nanos, syscall};

detector! {
    /// # poll-scan
    ///
    /// ## What it is
    /// An event loop waits with `poll`, which is given all its descriptors each time. The kernel looks at each of them,
    /// and once more when one is ready. With thousands of connections, of which few do anything, that is what the loop
    /// spends its time with, and each connection that is only open makes all requests slower.
    ///
    /// ## Evidence
    /// Calls of `poll` with hundreds of descriptors or more, of which one in a hundred or fewer was ready, and the CPU
    /// time of these calls while requests were in hand: a tenth of their time or more.
    ///
    /// ## What proves it
    /// Nothing from outside: only the program knows which of its descriptors have changed. It remains a suspicion with
    /// an upper bound. With half of the connections a call takes half as long.
    ///
    /// ## Remedy
    /// Use `epoll` (libevent, libuv, Python's DefaultSelector do so by themselves), which is told of changes only, or
    /// close connections that are idle for long.
    ///
    /// ## Not to be confused with
    /// sleep-polling (a thread that looks every now and then, whatever the number); a loop that is busy with its
    /// requests.
    "P58" "poll-scan",
    not_switched: "Only the program knows which of its descriptors have changed since it last asked.",
    needs: &[Server, Calls]
}

/// Fewer descriptors take the kernel some microseconds at most.
const MANY: u64 = 256;
/// A call that finds more of them than this share finds what it looks for.
const READY: f64 = 0.01;
/// What takes less of the requests' time than this is not what makes them slow.
const LEAST_SHARE: f64 = 0.1;

fn detect(analysis: &Analysis) -> Option<Found> {
    let scans = analysis.calls_of(syscall::is_poll_of_many).filter(|(_, call)| is_scan(call));
    let mut scans: Vec<(usize, u64)> = scans.map(|(row, call)| (row, inside(analysis, call))).collect();
    // While connections are opened there are fewer, and nobody waits for what comes between requests.
    scans.retain(|(_, cost)| *cost > 0);
    let wall = scans.iter().map(|(_, cost)| cost).sum::<u64>().min(analysis.exchange_wall());
    let is_costly = wall as f64 >= LEAST_SHARE * analysis.exchange_wall() as f64;
    (!analysis.exchanges.is_empty() && is_costly).then(|| found(analysis, &scans, wall)).flatten()
}

fn found(analysis: &Analysis, scans: &[(usize, u64)], wall: u64) -> Option<Found> {
    let &(top, _) = scans.iter().max_by_key(|(_, cost)| *cost)?;
    let calls = || scans.iter().map(|&(row, _)| analysis.call(row));
    let (requests, count) = (analysis.exchanges.len() as u64, scans.len() as u64);
    let cpu: u64 = calls().map(busy_part).sum();
    let descriptors = calls().map(|call| call.argument_1).sum::<u64>() / count;
    let ready: u64 = calls().map(|call| call.result.max(0) as u64).sum();
    let call = analysis.call(top);
    let process = Images::new(analysis.recording).at(call.pid, call.start.0);
    let program = process.map_or("The program", |process| base_name(&process.executable));
    let place = costly_call(analysis, scans.iter().copied());
    let what = format!("{program} looks at {} descriptors in each call of poll", number::count(descriptors));
    Some(Found {
        title: format!(
            "{what}: {} of every {} request{}",
            Nanos(wall / requests),
            Nanos(analysis.exchange_wall() / requests),
            place.in_words(),
        ),
        what,
        mechanism: vec![format!(
            "{} times poll looked at {} descriptors or about as many, and found {} that were ready. A call took {} of CPU time: {} \
             for each descriptor.",
            number::count(count),
            number::count(descriptors),
            number::count(ready),
            Nanos(cpu / count),
            Nanos(cpu / count / descriptors.max(1)),
        )],
        saving: PotentialSaving { wall, outside: 0, cpu, affected: requests },
        place,
        remedy: format!("Have {program} wait with epoll, or close connections that are idle for long."),
        rows: rows("calls", std::iter::once(top).chain(scans.iter().map(|&(row, _)| row).filter(|&row| row != top))),
        explains: calls().map(|call| (call.tid, call.start.0, call_end(call))).collect(),
        ..Found::default()
    })
}

/// Whether a call looked at many descriptors, and found few of them ready or none.
fn is_scan(call: &Call) -> bool {
    call.argument_1 >= MANY && call.result >= 0 && call.result as f64 <= READY * call.argument_1 as f64
}

/// How much of a call's work fell into requests: half of it is done before it waits, and half after that.
fn inside(analysis: &Analysis, call: &Call) -> u64 {
    let (half, end) = (busy_part(call) / 2, call_end(call));
    let parts = [(call.start.0, call.start.0.saturating_add(half)), (end.saturating_sub(half), end)];
    parts.into_iter().map(|(from, to)| analysis.split(call.tid, from, to).0).sum()
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, SERVER};
    use crate::tests::{answer, names};
    use case::Recording;

    /// `poll`.
    const POLL: u16 = 7;

    /// Twenty requests to a server that looks at so many descriptors before it reads one.
    fn looking(descriptors: u64, ready: i64) -> Recording {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        for _ in 0..20 {
            fixture.served(|fixture| {
                fixture.does(SERVER, MS, POLL, |call| (call.argument_1, call.result) = (descriptors, ready));
            });
        }
        fixture.end()
    }

    #[test]
    fn a_loop_that_looks_at_thousands_to_find_one_is_found() {
        let answer = answer(&looking(5_000, 1));
        let finding = answer.findings.iter().find(|finding| finding.id == "P58").expect("found");
        assert!(finding.title.starts_with("server looks at 5,000 descriptors"), "{}", finding.title);
        assert!(finding.cost.share_of_wall > 0.8, "{:?}", finding.cost);
        assert!(finding.mechanism[0].contains("200 ns for each descriptor"), "{:?}", finding.mechanism);
    }

    #[test]
    fn few_descriptors_or_many_that_are_ready_are_left_alone() {
        for (descriptors, ready) in [(20, 1), (5_000, 500)] {
            assert!(!names(&looking(descriptors, ready)).contains(&"poll-scan".to_string()), "{descriptors} {ready}");
        }
    }
}
