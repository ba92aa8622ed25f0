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
        treat: |request, treatment| {
            treatment.preloads.push(Preload { shim: "sleep-scale", parameter: pauses::parameter(request, FACTOR) });
            Ok(())
        },
        applied: |counters| counters.of_shim("sleep-scale"),
    };
}
