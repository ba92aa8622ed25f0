//! `answer-100-continue`: nobody waits for leave to send a body.

use super::{Intervention, Purpose, intervention};
use crate::treatment::Preload;

intervention! {
    /// # answer-100-continue
    ///
    /// ## What it does
    /// Answers a request's `Expect: 100-continue` in the server's place: once the head of such a request was written,
    /// the socket is ready to be read at once, and the first that is read from it is `HTTP/1.1 100 Continue`. The body
    /// follows without the second that a client gives a server that does not know the header. One from the server that
    /// comes later is harmless: a client has to take any number of them.
    ///
    /// ## What it reaches
    /// Programs that load libc dynamically and speak HTTP/1.1 in the clear, the head in one write. Not TLS, not HTTP/2,
    /// not Go, not static programs.
    ///
    /// ## How it is told that it took hold
    /// The shim counts answers that were read.
    ///
    /// ## What it cannot prove
    /// That the server would have taken the body: one that refuses uploads by their head is now sent them in full.
    pub const ANSWER_100_CONTINUE: Intervention = Intervention {
        name: "answer-100-continue",
        summary: "answers `Expect: 100-continue` at once in the server's place",
        tried_for: &[("P33", Purpose::Cause)],
        doses: &[],
        unit: "",
        stands_on: &[],
        treat: |_, treatment| {
            treatment.preloads.push(Preload { shim: "answer-100-continue", parameter: "on".into() });
            Ok(())
        },
        applied: |counters| counters.of_shim("answer-100-continue"),
    };
}
