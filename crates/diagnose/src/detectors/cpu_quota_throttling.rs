//! P29: threads wait for the next period of a processor quota.

use super::{Found, detector, median, rows};
use crate::analysis::ledger::Account;
use crate::analysis::{Analysis, PotentialSaving};
use crate::place::Located;
use crate::spans::merge;
use case::tables::Switch;
use case::{Nanos, Recording, Share};

detector! {
    /// # cpu-quota-throttling
    ///
    /// ## What it is
    /// A cgroup (a container's CPU limit, a service's CPUQuota) allows its processes a fixed amount of CPU time per
    /// period, usually 100 ms. Once it is used up, all of the cgroup's threads stop until the next period, even if
    /// other CPUs are idle.
    ///
    /// ## Evidence
    /// The cgroup's counters nr_throttled and throttled_time (throttled_usec in v2) increased during the recording, and
    /// the program's threads were runnable but not running in stretches that match: each long compared with the mean
    /// throttling, and all together no longer than twice the time the cgroup was throttled.
    ///
    /// ## What proves it
    /// The same program outside the cgroup, or with the quota lifted: the long waits go away, and the CPU time per
    /// request stays the same.
    ///
    /// ## Remedy
    /// Raise the quota (cpu.max, or cpu.cfs_quota_us; a container's CPU limit), run no more threads at a time than the
    /// quota has CPUs, or make requests cheaper.
    ///
    /// ## Not to be confused with
    /// Other programs on the same CPUs (waits of a few milliseconds, no throttling counted); a cgroup that was
    /// throttled while this program had nothing to run; a program that waits for something else.
    "P29" "cpu-quota-throttling",
    needs: &[Server]
}

/// Fewer throttled periods are an incident, not a rate.
const LEAST_THROTTLED: u64 = 3;

/// A wait counts from this part of the mean throttling on: a thread that becomes runnable late in a throttled stretch
/// waits for the rest of it only, and what is shorter is usually the scheduler's turn-taking.
const PART_OF_MEAN: u64 = 8;

/// The scheduler's time slices are shorter than this; a shorter wait cannot be distinguished from them.
const SHORTEST: u64 = 2_000_000;

/// What the counters of control groups say.
struct Throttling {
    group: String,
    periods: u64,
    throttled: u64,
    time: u64,
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let throttling = throttling(analysis.recording)?;
    if throttling.throttled < LEAST_THROTTLED {
        return None;
    }
    let gaps = gaps(analysis, &throttling);
    let waited = merge(gaps.iter().map(|&(_, row)| (row.runnable.0, row.end.0)).collect());
    let length: u64 = waited.iter().map(|(start, end)| end - start).sum();
    // Threads that wait for longer than their group was throttled wait for something else.
    if (gaps.len() as u64) < LEAST_THROTTLED || length > throttling.time.saturating_mul(2) {
        return None;
    }
    // What they waited for beyond the group's throttling is somebody else's doing.
    let part = throttling.time.min(length) as f64 / length.max(1) as f64;
    let saving = saving(analysis, &gaps, &waited, part);
    Some(found(analysis, &throttling, gaps, saving))
}

/// The group that was throttled most, if any was. A quota stops everything below its group, so the program's own group
/// and those above it are looked at alike.
fn throttling(recording: &Recording) -> Option<Throttling> {
    let moved = |scope: &str, name: &str| {
        let row = recording.counters.iter().find(|row| row.scope == scope && row.name == name);
        row.map_or(0, |row| row.after.saturating_sub(row.before))
    };
    let stopped = recording.counters.iter().filter(|row| row.name == "nr_throttled");
    let groups = stopped.filter_map(|row| {
        let scope = row.scope.as_str();
        // Version 1 counts nanoseconds, version 2 microseconds.
        let time = moved(scope, "throttled_time").max(moved(scope, "throttled_usec").saturating_mul(1_000));
        let (periods, throttled) = (moved(scope, "nr_periods"), moved(scope, "nr_throttled"));
        let group = scope.strip_prefix("cgroup:")?.to_string();
        (time > 0 && throttled > 0).then_some(Throttling { group, periods, throttled, time })
    });
    groups.max_by_key(|group| group.time)
}

/// The stretches in which threads were runnable and not running, long enough to be throttled ones, with their rows.
fn gaps<'r>(analysis: &Analysis<'r>, throttling: &Throttling) -> Vec<(usize, &'r Switch)> {
    // The time counts once for each processor that the group was stopped on; one stretch is no longer than a period.
    let of_a_period = analysis.wall() / throttling.periods.max(1);
    let mean = (throttling.time / throttling.throttled.max(1)).min(of_a_period);
    let least = (mean / PART_OF_MEAN).max(SHORTEST);
    let rows = analysis.recording.switches.iter().enumerate();
    rows.filter(|(_, row)| (row.end - row.runnable).0 >= least).collect()
}

/// What the waits cost, of which `part` is the group's throttling.
fn saving(analysis: &Analysis, gaps: &[(usize, &Switch)], waited: &[(u64, u64)], part: f64) -> PotentialSaving {
    let length = |row: &Switch| (row.end - row.runnable).0;
    let throttled: u64 = gaps.iter().map(|(_, row)| length(row)).sum();
    if analysis.exchanges.is_empty() {
        let length: u64 = waited.iter().map(|(start, end)| end - start).sum();
        return PotentialSaving {
            wall: (length as f64 * part) as u64,
            outside: 0,
            cpu: 0,
            affected: gaps.len() as u64,
        };
    }
    // One wait can hold up many exchanges at a time: their breakdown know how long they waited for a processor, and the
    // throttled part of all such waits is taken of it.
    let all: u64 = analysis.recording.switches.iter().map(length).sum();
    let of_processor = |account| matches!(account, Account::Processor(_) | Account::WakeUp(_));
    let breakdown = analysis.accounts.of_exchanges(of_processor) as f64 * throttled as f64 / all.max(1) as f64;
    let split = gaps.iter().map(|(_, row)| analysis.split(row.tid, row.runnable.0, row.end.0));
    let inside: u64 = split.map(|(inside, _)| inside).sum();
    let wall = inside.max(breakdown as u64).min(analysis.exchange_wall()) as f64 * part;
    let touched = |start: u64, end: u64| {
        let next = waited.partition_point(|&(_, gap_end)| gap_end <= start);
        waited.get(next).is_some_and(|&(gap_start, _)| gap_start < end)
    };
    let affected = analysis.exchanges.iter().filter(|exchange| touched(exchange.start, exchange.end)).count();
    PotentialSaving { wall: wall as u64, outside: 0, cpu: 0, affected: affected as u64 }
}

fn found(
    analysis: &Analysis,
    throttling: &Throttling,
    mut gaps: Vec<(usize, &Switch)>,
    saving: PotentialSaving,
) -> Found {
    let length = |row: &Switch| (row.end - row.runnable).0;
    let middle = Nanos(median(gaps.iter().map(|(_, row)| length(row)).collect()));
    let all: u64 = gaps.iter().map(|(_, row)| length(row)).sum();
    let of_server = gaps.iter().filter(|(_, row)| is_server(analysis, row.tid)).map(|(_, row)| length(row));
    let who = if of_server.sum::<u64>() * 2 > all { "the server" } else { "the client" };
    let (count, wall) = (analysis.exchanges.len() as u64, analysis.exchange_wall());
    let cost = match count {
        0 => format!("{} of the {} run", Nanos(saving.wall), Nanos(wall)),
        _ => format!("{} of every {} request", Nanos(saving.wall / count), Nanos(wall / count)),
    };
    let Throttling { group, periods, throttled, time } = throttling;
    let share = Share(*throttled as f64 / (*periods).max(1) as f64);
    gaps.sort_by_key(|(row, switch)| (std::cmp::Reverse(length(switch)), *row));
    Found {
        title: format!("A CPU quota throttles {who}: its threads wait {cost} for the next period"),
        what: format!("A CPU quota throttles {who}"),
        mechanism: vec![
            format!("The cgroup {group} used up its quota in {throttled} of {periods} periods ({share})."),
            format!("It was throttled for {} in total, summed over CPUs.", Nanos(*time)),
            format!(
                "Meanwhile threads were runnable but not running {} times, half of them for {middle} or longer.",
                gaps.len()
            ),
        ],
        saving,
        place: Located::default(),
        remedy: format!(
            "Raise the quota of {group} (cpu.max, or cpu.cfs_quota_us), run fewer threads at a time, or make requests \
             cheaper."
        ),
        rows: rows("switches", gaps.into_iter().map(|(row, _)| row)),
        ..Found::default()
    }
}

fn is_server(analysis: &Analysis, tid: u32) -> bool {
    let pid = analysis.threads.get(tid).map_or(0, |thread| thread.pid);
    analysis.recording.processes.iter().any(|process| process.pid == pid && process.role == "server")
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, EPOLL_WAIT, Fixture, MS, READ, SERVER, US, WRITE, keep_alive};
    use crate::tests::{answer, names};
    use case::Recording;
    use case::tables::Counter;

    /// Requests of which the server works `WORK` on each, and after every second one does not run for `gap`.
    fn interrupted(gap: u64) -> Fixture {
        const WORK: u64 = 15 * MS;
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        let mut idle = fixture.now;
        for number in 0..40 {
            let start = fixture.now;
            fixture.moves(CLIENT, 1, WRITE, 200);
            fixture.travels(start + 3 * US, 1, 1001, 200);
            let waiting = fixture.now;
            fixture.now = idle;
            fixture.waits(SERVER, start + 12 * US - idle, EPOLL_WAIT, |call| call.result = 1);
            fixture.moves(SERVER, 1001, READ, 200);
            fixture.now += WORK;
            if number % 2 == 1 {
                fixture.preempted(SERVER, gap);
            }
            let answered = fixture.now;
            fixture.moves(SERVER, 1001, WRITE, 1000);
            fixture.travels(answered + 3 * US, 1001, 1, 1000);
            idle = fixture.now;
            fixture.now = waiting;
            fixture.waits_for(CLIENT, 1, answered + 12 * US - waiting, 1000);
            fixture.now += 20 * US;
        }
        fixture
    }

    /// What a group's counters say: throttled in 20 of 20 periods, for this long in all.
    fn throttled(fixture: &mut Fixture, time: u64) {
        let mut count = |name: &str, by: u64| {
            let (scope, name) = ("cgroup:/shop/web".to_string(), name.to_string());
            fixture.recording.counters.push(Counter { scope, name, before: 7, after: 7 + by });
        };
        count("nr_periods", 20);
        count("nr_throttled", 20);
        count("throttled_usec", time / 1_000);
    }

    fn with_counters(gap: u64, time: u64) -> Recording {
        let mut fixture = interrupted(gap);
        throttled(&mut fixture, time);
        fixture.end()
    }

    #[test]
    fn a_server_that_waits_for_its_groups_next_period_is_found() {
        let answer = answer(&with_counters(70 * MS, 20 * 70 * MS));
        assert_eq!(answer.findings[0].name, "cpu-quota-throttling");
        let finding = &answer.findings[0];
        assert!((34 * MS..36 * MS).contains(&finding.cost.ns_per_exchange), "{:?}", finding.cost);
        assert_eq!(finding.cost.affected, 20);
        assert!(finding.title.contains("throttles the server"), "{}", finding.title);
        assert!(finding.mechanism[0].contains("/shop/web used up its quota in 20 of 20 periods"), "{finding:?}");
    }

    #[test]
    fn a_group_stopped_on_several_processors_at_a_time_is_found_as_well() {
        assert_eq!(names(&with_counters(70 * MS, 4 * 20 * 70 * MS)), ["cpu-quota-throttling"]);
    }

    #[test]
    fn waits_without_throttling_are_left_alone() {
        assert_eq!(names(&interrupted(70 * MS).end()), Vec::<String>::new());
    }

    #[test]
    fn throttling_of_others_while_no_thread_of_ours_waited_is_left_alone() {
        let mut fixture = keep_alive(200, 300 * US);
        throttled(&mut fixture, 20 * 70 * MS);
        assert_eq!(names(&fixture.end()), Vec::<String>::new());
    }

    #[test]
    fn turn_taking_beside_much_throttling_is_left_alone() {
        let found = |gap| names(&with_counters(gap, 20 * 70 * MS)).contains(&"cpu-quota-throttling".to_string());
        assert!(found(10 * MS) && !found(3 * MS));
    }

    #[test]
    fn long_waits_beside_little_throttling_are_left_alone() {
        assert_eq!(names(&with_counters(70 * MS, 20 * 3 * MS)), Vec::<String>::new());
    }
}
