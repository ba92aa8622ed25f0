//! P57: another program stops this one at each of its calls.

use super::{Found, detector};
use crate::analysis::{Analysis, PotentialSaving};
use crate::code::base_name;
use crate::images::Images;
use crate::number;
use case::Nanos;
use case::tables::{Switch, Thread, reason};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

detector! {
    /// # traced-program
    ///
    /// ## What it is
    /// Somebody watches a program with strace, ltrace, a debugger or the like (ptrace). The kernel stops the program
    /// where the tracer asked for it, at the beginning and at the end of each system call for example, wakes the
    /// tracer, and waits until that one lets it go on. Each stop takes two switches from program to program, and what
    /// the tracer does meanwhile.
    ///
    /// ## Evidence
    /// The scheduler says that the threads which serve or make requests were stopped, not blocked, and who let them go
    /// on. The stops come several times in each request and take a tenth of the requests' time or more.
    ///
    /// ## What proves it
    /// The tracer lets the program run from one event of its life to the next (a new program, a signal, the end)
    /// without stopping it at its calls. That reaches tracers that whyslow starts; one that was there before is left
    /// alone.
    ///
    /// ## Remedy
    /// End the tracer (`TracerPid` in /proc/PID/status), or have it look at fewer calls without stopping at all of them
    /// (`strace --seccomp-bpf -e trace=...`). What watches from the kernel (perf trace, bpftrace) stops nobody.
    ///
    /// ## Not to be confused with
    /// costly-switch and debug-build (the program itself is made to check or to count); stopped-by-signals.
    "P57" "traced-program",
    needs: &[Server]
}

/// Fewer stops in each request are no tracer of calls.
const PER_REQUEST: u64 = 2;
/// What takes less of the requests' time than this is not what makes them slow.
const LEAST_SHARE: f64 = 0.1;

/// What one tracer did to the threads of one program.
#[derive(Default)]
struct Stops {
    count: u64,
    inside: u64,
    outside: u64,
    spans: Vec<(u64, u64)>,
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let threads: FxHashMap<u32, &Thread> = analysis.recording.threads.iter().map(|row| (row.tid, row)).collect();
    let images = Images::new(analysis.recording);
    let program = |tid: u32, at: u64| {
        let process = images.at(threads.get(&tid).map_or(tid, |thread| thread.pid), at)?;
        Some(base_name(&process.executable).to_string())
    };
    let mut by: BTreeMap<(String, u32), Stops> = BTreeMap::new();
    for stop in analysis.recording.switches.iter().filter(|row| is_tracers(row)) {
        let (inside, outside) = analysis.split(stop.tid, stop.start.0, stop.end.0);
        let traced = program(stop.tid, stop.start.0).unwrap_or_else(|| "the program".into());
        let stops = by.entry((traced, stop.waker)).or_default();
        stops.count += u64::from(inside > 0);
        stops.inside += inside;
        stops.outside += outside;
        if inside > 0 {
            stops.spans.push((stop.start.0, stop.end.0));
        }
    }
    let ((traced, tracer), top) = by.into_iter().max_by_key(|(_, stops)| stops.inside)?;
    let requests = analysis.exchanges.len() as u64;
    let wall = top.inside.min(analysis.exchange_wall());
    let is_costly = wall as f64 >= LEAST_SHARE * analysis.exchange_wall() as f64;
    if requests == 0 || top.count < PER_REQUEST * requests || !is_costly {
        return None;
    }
    let tracer = program(tracer, u64::MAX).unwrap_or_else(|| format!("another program (process {tracer})"));
    let what = format!("{tracer} stops {traced} at its system calls (ptrace)");
    Some(Found {
        title: format!(
            "{what}: {} of every {} request",
            Nanos(wall / requests),
            Nanos(analysis.exchange_wall() / requests)
        ),
        what,
        mechanism: vec![
            format!(
                "{} times while a request was in hand, {traced} was stopped until {tracer} let it go on: {} times in each \
                 request, for {} each time.",
                number::count(top.count),
                top.count / requests,
                Nanos(top.inside / top.count),
            ),
            format!("Between requests it was stopped for another {}.", Nanos(top.outside)),
        ],
        saving: PotentialSaving { wall, outside: 0, cpu: 0, affected: requests },
        remedy: format!("End {tracer}, or have it watch fewer calls without stopping {traced} at all of them."),
        stalls: top.spans,
        ..Found::default()
    })
}

/// Whether a thread was stopped by somebody who then let it go on.
fn is_tracers(row: &Switch) -> bool {
    row.reason == reason::TRACED && row.waker != 0 && row.waker != row.tid
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, SERVER, US};
    use crate::tests::{answer, names};
    use case::Recording;
    use case::tables::reason;

    const TRACER: u32 = 300;

    /// Ten requests, in each of which the server goes off CPU ten times for as long.
    fn stopped(reason: u8, length: u64) -> Recording {
        let mut fixture = Fixture::new();
        fixture.process(TRACER, "strace");
        fixture.connect(1, CLIENT);
        for _ in 0..10 {
            fixture.served(|fixture| {
                for _ in 0..10 {
                    let from = fixture.now;
                    fixture.off(SERVER, from, from + length);
                    let switch = fixture.recording.switches.last_mut().expect("one");
                    (switch.reason, switch.waker) = (reason, TRACER);
                    fixture.now += length + 5 * US;
                }
            });
        }
        fixture.end()
    }

    #[test]
    fn a_program_that_is_stopped_in_each_request_is_found_with_its_tracer() {
        let answer = answer(&stopped(reason::TRACED, 200 * US));
        let finding = answer.findings.iter().find(|finding| finding.id == "P57").expect("found");
        assert!(finding.title.starts_with("strace stops server at its system calls"), "{}", finding.title);
        assert!(finding.cost.share_of_wall > 0.9, "{:?}", finding.cost);
        assert!(finding.mechanism[0].contains("10 times in each request"), "{:?}", finding.mechanism);
    }

    #[test]
    fn what_is_blocked_or_hardly_stopped_is_left_alone() {
        for (reason, length) in [(reason::BLOCKED, 200 * US), (reason::TRACED, 100)] {
            assert!(!names(&stopped(reason, length)).contains(&"traced-program".to_string()), "{reason} {length}");
        }
    }
}
