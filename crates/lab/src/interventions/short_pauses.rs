//! `short-pauses`: a client that asks until the answer lets it go on asks far more often.

use super::{Intervention, Prediction, intervention, pauses};
use crate::aspect::Aspect;
use crate::treatment::Preload;

/// A hundredth, as of `short-sleeps`.
const FACTOR: &str = "0.010000";

intervention! {
    /// # short-pauses
    ///
    /// ## What it does
    /// Makes every sleep a hundred times shorter, as `short-sleeps` does, where a client sleeps between requests until an
    /// answer lets it go on. Where its runtime sleeps in waits for events or for other threads (Node.js, asyncio, Ruby, Java),
    /// those are shortened that the recording shows: of that length, in threads of that name. The clocks by which such a
    /// process measures times are put forward by what is left out; the time of day is not.
    ///
    /// ## What it reaches
    /// Dynamically linked programs that use libc. Not Go, not static programs, not timers that the kernel runs (timerfd,
    /// SIGALRM).
    ///
    /// ## How we know it took effect
    /// The shim counts the sleeps it shortened.
    ///
    /// ## What it cannot prove
    /// That asking more often is better: it makes more requests, which are not compared. So its runs are whole, what counts
    /// is how long they take, and what the program writes has to be the same to the letter: one that gives up after so many
    /// attempts gives up sooner. A time that the program measures itself contains what was left out.
    pub const SHORT_PAUSES: Intervention = Intervention {
        name: "short-pauses",
        summary: "makes the sleeps of a client that asks again a hundred times shorter",
        predictions: &[Prediction::gains("P06")],
        needs_same_output: true,
        // Whoever looks more often asks more often, mostly for the short answer that says `not yet`.
        may_change: &[Aspect::Exchanges, Aspect::Bytes],
        // How often a client looks depends on its sleeps: its whole run is compared, by what it writes.
        purpose_here: |request, declared| pauses::is_between_requests(request).then_some(declared),
        treat: |request, treatment| {
            treatment.preloads.push(Preload { shim: "sleep-scale", parameter: pauses::parameter(request, FACTOR) });
            Ok(())
        },
        applied: |counters| counters.of_shim("sleep-scale"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::World;
    use crate::interventions::sleep_scale::SLEEP_SCALE;
    use crate::interventions::tests::request;
    use crate::interventions::{Purpose, Request, short_sleeps};
    use crate::treatment::Treatment;
    use case::tables::{Call, Thread};
    use case::{Cost, Evidence, Finding, Nanos, Recording};

    const EPOLL_WAIT: u16 = 232;
    const NANOSLEEP: u16 = 35;

    /// A finding of a pathology that rests on three sleeps of about 100 ms, which lie between requests or within.
    fn finding(id: &str, number: u16, between: u64) -> (Recording, Finding) {
        let call = |ms: u64| Call { tid: 7, number, blocked: Nanos(ms * 1_000_000), ..Default::default() };
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
        let purposes = [SHORT_PAUSES, short_sleeps::SHORT_SLEEPS].map(|one| one.purpose(id, &request));
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
