//! `long-timeouts` and `short-timeouts`: waits that give up later, or sooner.

use super::{Intervention, NotHere, Prediction, intervention};
use crate::aspect::Aspect;
use crate::treatment::Preload;

/// What the shim and its parameter are called, and how it counts.
const SHIM: &str = "timeout-scale";
/// A timeout that is too short is so by less than this, or nobody would use the program.
const LONGER: f64 = 10.0;
/// A fifth: enough to see that the wait follows, and of an idle connection's 200 ms enough is left for the next request.
const SHORTER: f64 = 0.2;

intervention! {
    /// # long-timeouts
    ///
    /// ## What it does
    /// Makes the times after which a wait for a descriptor gives up ten times longer: those of `poll`, `select`,
    /// `epoll_wait` and their kin, and SO_RCVTIMEO and SO_SNDTIMEO of sockets. Whoever gives requests up too early then gets
    /// their answers.
    ///
    /// ## What it reaches
    /// Dynamically linked programs that use libc. Not Go, not static programs, not sleeps, timers, or waits for locks, and
    /// not a program that looks at a clock to see whether it is late.
    ///
    /// ## How we know it took effect
    /// The shim counts the times it made longer.
    ///
    /// ## What it cannot prove
    /// That it is worth waiting so long.
    pub const LONG_TIMEOUTS: Intervention = Intervention {
        name: "long-timeouts",
        summary: "makes the timeouts of waits for descriptors ten times longer",
        predictions: &[Prediction::gains("P45")],
        // What is not given up is not asked again, and has an answer.
        may_change: &[Aspect::Exchanges, Aspect::Bytes],
        treat: |request, treatment| {
            if request.finding.is_some_and(|finding| finding.cost.is_between_requests()) {
                return Err(NotHere("needs requests that are given up: the client sleeps after a failure".into()));
            }
            treatment.preloads.push(Preload { shim: SHIM, parameter: format!("{LONGER:.6}") });
            Ok(())
        },
        applied: |counters| counters.of_shim(SHIM),
    };
}

intervention! {
    /// # short-timeouts
    ///
    /// ## What it does
    /// Makes the times after which a wait for a descriptor gives up five times shorter, as `long-timeouts` makes them longer.
    /// Where nothing but a timeout ends a wait, of the client's or of the server's idle connections, the wait becomes as
    /// much shorter.
    ///
    /// ## What it reaches
    /// As `long-timeouts`.
    ///
    /// ## How we know it took effect
    /// The shim counts the times it made shorter.
    ///
    /// ## What it cannot prove
    /// That nothing else would have come: an answer that takes longer than the shorter time is given up.
    pub const SHORT_TIMEOUTS: Intervention = Intervention {
        name: "short-timeouts",
        summary: "makes the timeouts of waits for descriptors five times shorter",
        predictions: &[Prediction::gains("P34"), Prediction::gains("P75")],
        treat: |_, treatment| {
            treatment.preloads.push(Preload { shim: SHIM, parameter: format!("{SHORTER:.6}") });
            Ok(())
        },
        applied: |counters| counters.of_shim(SHIM),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::World;
    use crate::interventions::Request;
    use crate::interventions::short_sleeps::SHORT_SLEEPS;
    use crate::interventions::tests::{finding_at, request};
    use crate::treatment::{End, Treatment};
    use case::{Cost, Finding};

    /// Which of the two are tried for a retry storm that costs so much of an exchange's 100 ns between requests.
    fn tried(between: u64) -> [bool; 2] {
        let (recording, finding) = finding_at(End::Client);
        let cost = Cost { ns_per_exchange: 100, between_ns_per_exchange: between, ..Cost::default() };
        let (world, finding) = (World::default(), Finding { id: "P45".into(), cost, ..finding });
        let request = Request { recording: Some(&recording), finding: Some(&finding), ..request(&world) };
        [SHORT_SLEEPS, LONG_TIMEOUTS].map(|one| (one.treat)(&request, &mut Treatment::default()).is_ok())
    }

    #[test]
    fn sleeps_after_failures_are_made_shorter_and_timeouts_that_give_requests_up_longer() {
        assert_eq!(tried(100), [true, false]);
        assert_eq!(tried(0), [false, true]);
    }
}
