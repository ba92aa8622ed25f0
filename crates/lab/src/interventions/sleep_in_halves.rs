//! `sleep-in-halves`: sleeps as long as before, interrupted once.

use super::{Intervention, Prediction, intervention, pauses};
use crate::treatment::Preload;

intervention! {
    /// # sleep-in-halves
    ///
    /// ## What it does
    /// Takes every sleep in two halves, one right after the other: the program sleeps as long as before. It wakes twice as
    /// often, in the same calls that `short-sleeps` makes shorter. Where the length of the sleeps is what costs time, this
    /// must change nothing and is tried as the negative control.
    ///
    /// ## What it reaches
    /// As `short-sleeps`.
    ///
    /// ## How we know it took effect
    /// The shim counts the sleeps it halved.
    pub const SLEEP_IN_HALVES: Intervention = Intervention {
        name: "sleep-in-halves",
        summary: "takes every sleep in two halves, as long as before together",
        predictions: &[Prediction::does_nothing("P06"), Prediction::does_nothing("P23")],
        doses: &[],
        unit: "",
        stands_on: &[],
        treat: |request, treatment| {
            treatment.preloads.push(Preload { shim: "sleep-scale", parameter: pauses::parameter(request, "halves") });
            Ok(())
        },
        applied: |counters| counters.of_shim("sleep-scale"),
    };
}
