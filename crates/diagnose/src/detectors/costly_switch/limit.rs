//! Fewer CPUs than there are: requests wait in line for threads that may not run.

use crate::analysis::Analysis;
use crate::detectors::idle_cpus;
use crate::spans;
use crate::waits;
use case::switches;

/// A program that uses this part of the CPUs it may use, or more, while requests are under way, uses what it may.
const ALL: f64 = 0.8;

/// How long requests wait because of it, in nanoseconds: what they wait in line for the threads that answer, less what would be
/// left of their time with all CPUs. None where it holds nobody back.
pub(super) fn costs(analysis: &Analysis, written: &str, samples: u64) -> Option<u64> {
    let (allowed, online) = (switches::count(written)?, analysis.recording.manifest.host.processors);
    idle_cpus::with_room(analysis).filter(|_| allowed < online)?;
    let under_way = spans::merge(analysis.exchanges.iter().map(|one| (one.start, one.end)).collect());
    let used = (samples * analysis.sample_period()) as f64 / spans::length(under_way.into_iter()).max(1) as f64;
    let line = waits::queue(analysis).filter(|line| line.behind.is_empty() && used >= ALL * f64::from(allowed))?;
    let gained = analysis.exchange_wall() as f64 * (1.0 - f64::from(allowed) / f64::from(online));
    Some((line.ns * analysis.exchanges.len() as u64).min(gained as u64))
}

/// What shows it.
pub(super) fn in_words(analysis: &Analysis, program: &str, written: &str) -> String {
    let allowed = switches::count(written).unwrap_or_default();
    let (idle, online) =
        (idle_cpus::with_room(analysis).unwrap_or_default(), analysis.recording.manifest.host.processors);
    let of = if allowed == 1 { "one CPU".to_string() } else { format!("{allowed} CPUs") };
    format!(
        "Requests wait in line while {program} uses all that it may, {of} of {online}. On average {idle:.1} CPUs were idle."
    )
}

#[cfg(test)]
mod tests {
    use crate::fixture::{MS, SERVER, asked_at_once};
    use crate::tests::answer;
    use case::tables::Counter;

    /// Four clients ask a server at once that computes 20 ms for each and may use one CPU, of so many, which were idle so much.
    fn limited(switches: &str, cpus: u32, idle: f64) -> Option<case::Finding> {
        let mut recording = asked_at_once(&["server!sign", "server!main"], 20 * MS, 0, cpus);
        for process in recording.processes.iter_mut().filter(|process| process.pid == SERVER) {
            (process.runtime, process.switches) = ("go 1.22".into(), switches.into());
        }
        let seconds = (recording.manifest.end - recording.manifest.start).0 as f64 / 1e9;
        let (scope, name) = ("cpu".to_string(), "idle".to_string());
        let after = (idle * seconds * super::idle_cpus::TICKS) as u64;
        recording.counters.push(Counter { scope, name, before: 0, after });
        answer(&recording).findings.into_iter().find(|finding| finding.id == "P54")
    }

    #[test]
    fn a_limit_that_keeps_requests_in_line_beside_idle_cpus_is_a_costly_switch() {
        let finding = limited("GOMAXPROCS=1", 4, 2.9).expect("found");
        assert!(finding.title.starts_with("GOMAXPROCS=1 limits how many CPUs it uses: up to "), "{}", finding.title);
        let expected =
            "Requests wait in line while server uses all that it may, one CPU of 4. On average 2.9 CPUs were idle.";
        assert_eq!(finding.mechanism[1], expected);
        assert!((0.3..=0.75).contains(&finding.cost.share_of_wall), "{:?}", finding.cost);
        assert_eq!(finding.cost.cpu_ns_per_exchange, 0);
    }

    #[test]
    fn a_limit_that_is_none_or_not_reached_or_leaves_nothing_idle_is_left_alone() {
        for (switches, cpus, idle) in [("GOMAXPROCS=4", 4, 2.9), ("GOMAXPROCS=2", 4, 2.9), ("GOMAXPROCS=1", 4, 0.1)] {
            assert_eq!(limited(switches, cpus, idle), None, "{switches} {cpus} {idle}");
        }
    }
}
