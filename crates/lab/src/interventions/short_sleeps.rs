//! `short-sleeps`: sleeps so short that nobody notices them.

use super::{Intervention, NotHere, Prediction, intervention, pauses};
use crate::treatment::Preload;

/// A hundredth: of a poll every 50 ms 0.5 ms is left, and a thread that does nothing else still sleeps most of the time.
const FACTOR: f64 = 0.01;

intervention! {
    /// # short-sleeps
    ///
    /// ## What it does
    /// Makes every sleep a hundred times shorter: `nanosleep`, `clock_nanosleep`, `usleep`, `sleep`, and `poll` and
    /// `select` without descriptors. Who polls by sleeping then sees at once what it waits for.
    ///
    /// ## What it reaches
    /// Dynamically linked programs that use libc. Where a runtime sleeps in waits for events or for other threads (Node.js,
    /// asyncio, Ruby, Java), those that the recording shows, as `short-pauses` does. Not Go, not static programs, not other
    /// time-outs of waits, not timers.
    ///
    /// ## How we know it took effect
    /// The shim counts the sleeps it shortened.
    ///
    /// ## What it cannot prove
    /// That a sleep is useless: only how much of the waiting is due to it. A pause that is meant, a rate limit or a
    /// back-off, goes as well.
    pub const SHORT_SLEEPS: Intervention = Intervention {
        name: "short-sleeps",
        summary: "makes every sleep a hundred times shorter",
        predictions: &[Prediction::gains("P06"), Prediction::gains("P23"), Prediction::gains("P45")],
        doses: &[],
        unit: "",
        stands_on: &[],
        // Of a client that asks until it is told, `short-pauses` compares whole runs.
        purpose_here: |request, declared| (!pauses::is_between_requests(request)).then_some(declared),
        treat: |request, treatment| {
            let retries = request.finding.is_some_and(|finding| finding.id == "P45");
            if retries && !request.finding.is_some_and(|finding| finding.cost.is_between_requests()) {
                return Err(NotHere("needs a client that sleeps after a failure: it gives requests up".into()));
            }
            let parameter = pauses::parameter(request, &format!("{FACTOR:.6}"));
            treatment.preloads.push(Preload { shim: "sleep-scale", parameter });
            Ok(())
        },
        applied: |counters| counters.of_shim("sleep-scale"),
    };
}
