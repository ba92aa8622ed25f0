//! P66: somebody stops the program with signals and lets it go on again.

use super::{Found, detector};
use crate::analysis::{Analysis, PotentialSaving};
use crate::code::base_name;
use crate::images::Images;
use crate::number;
use crate::spans::{length, merge, within};
use case::tables::reason;
use case::{Nanos, Share};
use std::collections::BTreeMap;

detector! {
    /// # stopped-by-signals
    ///
    /// ## What it is
    /// Somebody stops a program with SIGSTOP (or a terminal with Ctrl-Z, SIGTSTP) and lets it go on with SIGCONT, again and
    /// again: that is how cpulimit keeps a program to a share of a processor, and how some snapshots and supervisors hold it
    /// still. No thread of it runs meanwhile, whatever comes for it.
    ///
    /// ## Evidence
    /// The scheduler says that threads of a program which makes or serves requests were stopped, not blocked and not traced, and who
    /// let them go on. It happened again and again while requests were in hand, for a tenth of their time or more.
    ///
    /// ## What proves it
    /// Nothing outside can keep a signal that cannot be ignored from a program, and whoever sends it has a reason. The time that
    /// requests spend while the program is stopped is the prediction.
    ///
    /// ## Remedy
    /// End whoever sends the signals. Where a program must not take more than a share of a processor, give its control group a
    /// quota (`cpu.max`) or less weight, which holds nobody up while processors are free.
    ///
    /// ## Not to be confused with
    /// cpu-quota-throttling (the kernel keeps threads that are ready to run from running); traced-program (a tracer stops it at
    /// its calls); sleep-polling (it sleeps of its own accord).
    "P66" "stopped-by-signals",
    not_switched: "A program cannot ignore SIGSTOP, and only whoever sends it can leave that be.",
    needs: &[Requests]
}

/// Fewer stops are somebody at a terminal.
const HABIT: usize = 5;
/// What takes less of the requests' time than this is not what makes them slow.
const LEAST_SHARE: f64 = 0.1;

/// The stops of one process that one other ended.
struct Stops {
    spans: Vec<(u64, u64)>,
    /// Those in which a request was in hand, and how long requests were, together.
    hit: Vec<(u64, u64)>,
    wall: u64,
    affected: u64,
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let ((pid, by), top) = stops(analysis).into_iter().max_by_key(|(_, stops)| stops.wall)?;
    let (requests, whole) = (analysis.exchanges.len() as u64, analysis.exchange_wall());
    if top.hit.len() < HABIT || (top.wall as f64) < LEAST_SHARE * whole as f64 {
        return None;
    }
    let images = Images::new(analysis.recording);
    let name = |pid: u32| images.at(pid, u64::MAX).map(|process| base_name(&process.executable).to_string());
    let stopped = name(pid).unwrap_or_else(|| "the program".into());
    let sender = match by {
        0 => "somebody".to_string(),
        by => name(by).unwrap_or_else(|| format!("another program (process {by})")),
    };
    let what = format!("{stopped} is stopped by signals again and again, until {sender} lets it go on");
    let held = length(top.spans.iter().copied());
    let (first, last) = (top.spans.first()?.0, top.spans.last()?.1);
    Some(Found {
        title: format!("{what}: {} of every {} request", Nanos(top.wall / requests), Nanos(whole / requests)),
        what,
        mechanism: vec![
            format!(
                "{} times {stopped} was stopped while a request was in hand (SIGSTOP), for {} each time; {} of {} requests \
                 were held up.",
                number::count(top.hit.len() as u64),
                Nanos(length(top.hit.iter().copied()) / top.hit.len() as u64),
                number::count(top.affected),
                number::count(requests),
            ),
            format!(
                "From its first stop to its last it was stopped for {} of the time.",
                Share(held as f64 / last.saturating_sub(first).max(1) as f64)
            ),
        ],
        saving: PotentialSaving { wall: top.wall, affected: top.affected, ..PotentialSaving::default() },
        remedy: format!(
            "End what stops {stopped}; where it must not take more of a processor, give its control group a quota (cpu.max) or \
             less weight."
        ),
        stalls: top.hit,
        ..Found::default()
    })
}

/// By process and by who let it go on (0 where that is not known).
fn stops(analysis: &Analysis) -> BTreeMap<(u32, u32), Stops> {
    let mut spans: BTreeMap<(u32, u32), Vec<(u64, u64)>> = BTreeMap::new();
    for row in analysis.recording.switches.iter().filter(|row| row.reason == reason::STOPPED) {
        let pid_of = |tid: u32| analysis.threads.get(tid).map_or(tid, |thread| thread.pid);
        let waker = if row.waker == 0 { 0 } else { pid_of(row.waker) };
        spans.entry((pid_of(row.tid), waker)).or_default().push((row.start.0, row.end.0));
    }
    let of = |((pid, by), spans)| ((pid, by), during_requests(analysis, pid, merge(spans)));
    spans.into_iter().map(of).collect()
}

/// What the stops of a process took of the requests that it makes or serves.
fn during_requests(analysis: &Analysis, pid: u32, spans: Vec<(u64, u64)>) -> Stops {
    let mut stops = Stops { spans, hit: Vec::new(), wall: 0, affected: 0 };
    let mut hit = Vec::new();
    for exchange in &analysis.exchanges {
        let slots = [Some(exchange.connection), analysis.server_slot(exchange)];
        if !slots.into_iter().flatten().any(|slot| analysis.connections.row(slot).pid == pid) {
            continue;
        }
        let held: Vec<(u64, u64)> = within(&stops.spans, exchange.start, exchange.end).collect();
        stops.wall += length(held.iter().copied());
        stops.affected += u64::from(!held.is_empty());
        hit.extend(held);
    }
    stops.hit = merge(hit);
    stops
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, SERVER, US};
    use crate::tests::{answer, names};
    use case::Recording;
    use case::tables::reason;

    const SHELL: u32 = 300;

    /// Ten requests, in each of which the server goes off CPU for as long.
    fn stopped(reason: u8, length: u64) -> Recording {
        let mut fixture = Fixture::new();
        fixture.process(SHELL, "bash");
        fixture.connect(1, CLIENT);
        for _ in 0..10 {
            fixture.served(|fixture| {
                let from = fixture.now;
                fixture.off(SERVER, from, from + length);
                let switch = fixture.recording.switches.last_mut().expect("one");
                (switch.reason, switch.waker) = (reason, SHELL);
                fixture.now += length + 5 * US;
            });
        }
        fixture.end()
    }

    #[test]
    fn a_program_that_is_stopped_again_and_again_is_found_with_who_lets_it_go_on() {
        let answer = answer(&stopped(reason::STOPPED, 20 * MS));
        let finding = answer.findings.iter().find(|finding| finding.id == "P66").expect("found");
        let title = "server is stopped by signals again and again, until bash lets it go on: 20.0 ms of every ";
        assert!(finding.title.starts_with(title), "{}", finding.title);
        assert!(finding.cost.share_of_wall > 0.9, "{:?}", finding.cost);
        assert!(finding.mechanism[0].starts_with("10 times server was stopped"), "{:?}", finding.mechanism);
    }

    #[test]
    fn what_is_blocked_traced_or_hardly_stopped_is_left_alone() {
        for (reason, length) in [(reason::BLOCKED, 20 * MS), (reason::TRACED, 20 * MS), (reason::STOPPED, US)] {
            assert!(!names(&stopped(reason, length)).contains(&"stopped-by-signals".to_string()), "{reason} {length}");
        }
    }
}
