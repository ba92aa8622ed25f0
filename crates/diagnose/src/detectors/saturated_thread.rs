//! P50: one thread is the bottleneck while other processors idle.

mod in_line;

use super::{Found, common_place, detector, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::threads::ThreadRows;
use case::tables::Sample;
use case::{AccountGroup, Kind, Nanos, Share};

detector! {
    /// # saturated-thread
    ///
    /// ## What it is
    /// All work goes through one thread that never leaves its CPU, while other CPUs are idle. More cores do not help; a
    /// faster core, or cheaper work per byte, does.
    ///
    /// ## Evidence
    /// A thread on CPU for 95 % or more of its life, or of the time that requests came (at least 2 s), mostly in user mode; the other CPUs mostly idle;
    /// requests one at a time that fill the time and spend most of it on that thread's work; at least five nanoseconds
    /// per byte moved. Or requests that wait in line for the threads that answer them, which compute for ten milliseconds
    /// or more for each, or for one millisecond where those that wait take a tenth of that: an event loop that does what takes long
    /// itself (a command that goes through all keys). There are fewer of these threads than CPUs, and the
    /// program uses less than half of the CPUs that they leave.
    ///
    /// ## What proves it
    /// A faster core, or cheaper work per byte (another cipher, larger batches): throughput changes in proportion. More
    /// cores: nothing changes. Where requests wait in line, more threads that compute: the line gets shorter. Where most wait behind
    /// few of another kind (HTTP/1 without TLS), a proxy in between answers those (`shed-requests`), and the others no longer
    /// wait. If nothing can be tried, it remains a suspicion with an upper bound.
    ///
    /// ## Remedy
    /// Make the work per byte cheaper on that thread, or split it among several.
    ///
    /// ## Not to be confused with
    /// A load test that keeps a server busy (many concurrent requests that take little each; being busy is the point); hot-library (if the
    /// work is in one library).
    "P50" "saturated-thread",
    kind: Kind::Observation, is_general: true,
    needs: &[Server, Samples]
}

/// A thread that is off its processor for more than a twentieth has time to spare.
const BUSY: f64 = 0.95;

/// A shorter life says nothing about a steady state.
const LIFE: u64 = 2_000_000_000;

/// Requests that fill less of the time than this are not what a busy thread is busy with.
const FILLED: f64 = 0.5;

/// More requests at a time than this are a load that is meant to keep the server busy.
const AT_A_TIME: f64 = 1.5;

/// Copying and ciphers in hardware take a nanosecond or two a byte; that is work well done.
const PER_BYTE: u64 = 5;

fn detect(analysis: &Analysis) -> Option<Found> {
    one_at_a_time(analysis).or_else(|| in_line::detect(analysis))
}

fn one_at_a_time(analysis: &Analysis) -> Option<Found> {
    let wall = analysis.wall();
    let processors = u64::from(analysis.recording.manifest.host.processors);
    let at_a_time = analysis.exchange_wall() as f64 / wall.max(1) as f64;
    if analysis.exchanges.is_empty() || processors < 2 || !(FILLED..=AT_A_TIME).contains(&at_a_time) {
        return None;
    }
    let thread = analysis.threads.all().iter().max_by_key(|thread| (thread.on_processor, thread.tid))?;
    let others = analysis.total_cpu() - thread.on_processor.min(analysis.total_cpu());
    let bytes: u64 = analysis.exchanges.iter().map(|exchange| exchange.bytes).sum();
    let idle = others * 2 < (processors - 1) * wall;
    let dear = thread.on_processor >= PER_BYTE.saturating_mul(bytes);
    let saturated = saturated(analysis, thread)?;
    if !idle || !dear || !analysis.taking_part.contains_key(&thread.tid) {
        return None;
    }
    let samples: Vec<&Sample> = analysis.recording.samples[thread.samples.clone()].iter().collect();
    let in_user_mode = samples.iter().filter(|sample| !sample.kernel).count();
    let work = analysis
        .accounts
        .of_exchanges(|account| matches!(account.group(), AccountGroup::ClientCpu | AccountGroup::ServerCpu));
    if in_user_mode * 10 < samples.len() * 6 || samples.is_empty() || work * 2 < analysis.exchange_wall() {
        return None;
    }
    Some(found(analysis, thread, saturated, work, &samples))
}

/// How long a busy thread lived, or had requests to work on, and how much of that it was on its processor.
fn saturated(analysis: &Analysis, thread: &ThreadRows) -> Option<(u64, u64)> {
    let whole = (thread.end.saturating_sub(thread.start), thread.on_processor_in_all);
    let (from, to) = (analysis.exchanges.first()?.start, analysis.exchanges.iter().map(|one| one.end).max()?);
    let (outside, within) = analysis.threads.on_processor(thread.tid, from, to);
    let asked = (to.saturating_sub(from), outside + within);
    [whole, asked].into_iter().find(|&(time, busy)| time >= LIFE && busy as f64 >= BUSY * time as f64)
}

fn found(analysis: &Analysis, thread: &ThreadRows, (time, busy): (u64, u64), work: u64, samples: &[&Sample]) -> Found {
    let time = Nanos(time);
    let place = common_place(analysis, samples);
    let busy: Share = Nanos(busy).share_of(time);
    Found {
        title: format!("One thread is on CPU for {busy} of {time} while other CPUs idle{}", place.in_words()),
        what: "One thread is on CPU while other CPUs idle".to_string(),
        mechanism: vec![
            format!("Thread {} of process {} was never off CPU for long.", thread.tid, thread.pid),
            format!(
                "The requests came one at a time and spent {} of their {} on its work.",
                Nanos(work),
                Nanos(analysis.exchange_wall())
            ),
            "That is where the time goes, not why.".to_string(),
        ],
        saving: PotentialSaving {
            wall: work,
            outside: 0,
            cpu: thread.on_processor,
            affected: analysis.exchanges.len() as u64,
        },
        place,
        remedy: "Make the work per byte cheaper on that thread, or split it among several.".to_string(),
        rows: rows("samples", thread.samples.clone()),
        explains: analysis.stretches(samples),
        ..Found::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, SERVER, US, WRITE, keep_alive};
    use crate::tests::names;

    /// A client that works 50 ms on each answer for three seconds, with this many processors.
    fn working(processors: u32, server_busy: bool) -> Vec<String> {
        working_after(0, processors, server_busy)
    }

    /// The same, when nobody has asked anything for so long.
    fn working_after(idle: u64, processors: u32, server_busy: bool) -> Vec<String> {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        if idle > 0 {
            fixture.off(CLIENT, fixture.now, fixture.now + idle);
            fixture.now += idle;
        }
        fixture.recording.manifest.host.processors = processors;
        fixture.stack(7, &["client!encrypt", "client!main"]);
        let start = fixture.now;
        for _ in 0..60 {
            fixture.moves(CLIENT, 1, WRITE, 20);
            fixture.waits_for(CLIENT, 1, 100 * US, 100);
            fixture.computes(CLIENT, 50 * MS, 7);
            fixture.waits_for(CLIENT, 1, 10 * US, 5000);
        }
        if !server_busy {
            fixture.off(SERVER, start + MS, fixture.now);
        }
        names(&fixture.end())
    }

    #[test]
    fn one_busy_thread_beside_idle_processors_is_found() {
        assert_eq!(working(4, false), ["saturated-thread"]);
    }

    #[test]
    fn a_thread_that_idled_before_the_first_request_is_busy_since() {
        assert_eq!(working_after(1_000 * MS, 4, false), ["saturated-thread"]);
    }

    #[test]
    fn a_client_busy_between_its_requests_is_left_alone() {
        let mut fixture = keep_alive(1, 50 * US);
        fixture.recording.manifest.host.processors = 4;
        fixture.stack(7, &["client!draw", "client!main"]);
        let start = fixture.now;
        for _ in 0..60 {
            fixture.moves(CLIENT, 1, WRITE, 20);
            fixture.waits_for(CLIENT, 1, 100 * US, 100);
            fixture.computes(CLIENT, 20 * MS, 7);
            fixture.waits_for(CLIENT, 1, 10 * US, 5000);
            fixture.computes(CLIENT, 30 * MS, 7);
        }
        fixture.off(SERVER, start + MS, fixture.now);
        assert_eq!(names(&fixture.end()), Vec::<String>::new());
    }

    #[test]
    fn with_no_processor_to_spare_it_is_left_alone() {
        assert_eq!(working(1, false), Vec::<String>::new());
        assert_eq!(working(2, true), Vec::<String>::new());
    }
}
