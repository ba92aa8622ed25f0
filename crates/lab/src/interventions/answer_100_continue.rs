//! `answer-100-continue`: nothing waits for permission to send a body.

use super::{Intervention, Prediction, intervention};
use crate::aspect::Aspect;
use crate::treatment::Preload;

intervention! {
    /// # answer-100-continue
    ///
    /// ## What it does
    /// Answers a request's `Expect: 100-continue` on the server's behalf: once the head of such a request has been
    /// written, the socket becomes readable at once, and the first thing read from it is `HTTP/1.1 100 Continue`. The
    /// body then follows without the second that a client gives a server that does not know the header. A late 100 from
    /// the server is harmless: a client has to accept any number of them.
    ///
    /// ## What it reaches
    /// Dynamically linked programs that use libc and speak plain HTTP/1.1, with the head in one write. Not TLS, HTTP/2,
    /// Go or static programs.
    ///
    /// ## How we know it took effect
    /// The shim counts the answers that were read.
    ///
    /// ## What it cannot prove
    /// That the server would have accepted the body: one that refuses uploads by their head now gets all of it.
    pub const ANSWER_100_CONTINUE: Intervention = Intervention {
        name: "answer-100-continue",
        summary: "answers `Expect: 100-continue` at once on the server's behalf",
        predictions: &[Prediction::gains("P33")],
        doses: &[],
        unit: "",
        stands_on: &[],
        // The interim answer is no longer waited for, or comes with the final one.
        may_change: &[Aspect::Exchanges, Aspect::Bytes],
        treat: |_, treatment| {
            treatment.preloads.push(Preload { shim: "answer-100-continue", parameter: "on".into() });
            Ok(())
        },
        applied: |counters| counters.of_shim("answer-100-continue"),
    };
}
