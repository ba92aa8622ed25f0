//! Sleeps that a runtime makes in calls that are not for sleeping: an event loop's wait for events, a wait for other threads.

use super::{Intervention, Purpose, Request, short_pauses, short_sleeps};
use case::syscall;
use case::tables::Call;
use std::collections::BTreeMap;

/// A timer fires late and never early, but the runtime had begun to count before it made the call.
const EARLIER: f64 = 0.7;

/// Whether a client sleeps between requests until it is told what it waits for: the sleeps are no part of any request.
pub(super) fn is_between_requests(request: &Request) -> bool {
    request.finding.is_some_and(|finding| finding.id == "P06" && finding.cost.is_between_requests())
}

/// What an intervention is tried for, `usual` for every other: how often a client looks depends on its sleeps, so that its whole run
/// is compared, by what it writes; within requests nothing is done more often, and `short-sleeps` is enough.
pub(super) fn purpose(intervention: &Intervention, request: &Request, usual: Purpose) -> Option<Purpose> {
    let is_for_polls = request.finding.is_some_and(|finding| finding.id == "P06");
    let is_other = match intervention.name {
        name if name == short_pauses::SHORT_PAUSES.name => !is_between_requests(request),
        name if name == short_sleeps::SHORT_SLEEPS.name => is_for_polls && is_between_requests(request),
        _ => false,
    };
    (!is_other).then_some(usual)
}

/// A shim's parameter that names, beside what is done, the waits in which the finding's runtime sleeps: the shortest and the longest
/// in nanoseconds, and the name of the threads that make them. Only what is to be done where it sleeps in calls for that.
pub(super) fn parameter(request: &Request, what: &str) -> String {
    let waits: Vec<&Call> = request.calls().filter(|call| !syscall::is_sleep(call.number)).collect();
    let lengths = || waits.iter().map(|call| call.blocked.0);
    let Some((shortest, longest)) = lengths().min().zip(lengths().max()) else { return what.to_string() };
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    for call in &waits {
        let threads = request.recording.map_or(&[][..], |recording| &recording.threads);
        if let Some(thread) = threads.iter().rfind(|row| row.tid == call.tid) {
            *names.entry(thread.name.as_str()).or_default() += 1;
        }
    }
    let Some((name, _)) = names.into_iter().max_by_key(|(_, count)| *count) else { return what.to_string() };
    format!("{what} {} {longest} {name}", (shortest as f64 * EARLIER) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::World;
    use crate::interventions::sleep_scale::SLEEP_SCALE;
    use crate::interventions::tests::request;
    use crate::treatment::Treatment;
    use case::tables::Thread;
    use case::{Cost, Evidence, Finding, Nanos, Recording};

    const EPOLL_WAIT: u16 = 232;
    const NANOSLEEP: u16 = 35;

    /// A finding of a pathology that rests on three sleeps of about 100 ms, which lie between requests or within.
    fn finding(id: &str, number: u16, between: u64) -> (Recording, Finding) {
        let call =
            |ms: u64| case::tables::Call { tid: 7, number, blocked: Nanos(ms * 1_000_000), ..Default::default() };
        let recording = Recording {
            threads: vec![Thread { tid: 7, name: "event loop".into(), ..Thread::default() }],
            calls: [100, 110, 102].map(call).to_vec(),
            ..Recording::default()
        };
        let finding = Finding {
            id: id.into(),
            cost: Cost { ns_per_exchange: 100, between_ns_per_exchange: between, ..Cost::default() },
            evidence: Evidence { table: "calls".into(), rows: vec![0, 1, 2] },
            ..Finding::default()
        };
        (recording, finding)
    }

    /// What a shim is given for it, and what the two interventions that shorten sleeps are tried for.
    fn treated(id: &str, number: u16, between: u64) -> (String, [Option<Purpose>; 2]) {
        let (recording, finding) = finding(id, number, between);
        let world = World::default();
        let request = Request { recording: Some(&recording), finding: Some(&finding), ..request(&world) };
        let mut treatment = Treatment::default();
        (SLEEP_SCALE.treat)(&request, &mut treatment).expect("it can be tried");
        let purposes = [short_pauses::SHORT_PAUSES, short_sleeps::SHORT_SLEEPS].map(|one| one.purpose(id, &request));
        (treatment.preloads[0].parameter.clone(), purposes)
    }

    #[test]
    fn a_runtime_that_sleeps_in_other_waits_has_those_named_by_their_length_and_thread() {
        assert_eq!(treated("P06", NANOSLEEP, 0).0, "0.500000");
        assert_eq!(treated("P06", EPOLL_WAIT, 0).0, "0.500000 70000000 110000000 event loop");
    }

    #[test]
    fn sleeps_between_requests_are_tried_in_whole_runs_and_others_as_they_come() {
        let cause = Some(Purpose::Cause);
        assert_eq!(treated("P06", NANOSLEEP, 100).1, [cause, None]);
        assert_eq!(treated("P06", NANOSLEEP, 0).1, [None, cause]);
        assert_eq!(treated("P45", NANOSLEEP, 100).1, [None, cause]);
    }
}
