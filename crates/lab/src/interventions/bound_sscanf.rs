//! `bound-sscanf`: sscanf reads no further than it must.

use super::{Intervention, Prediction, intervention};
use crate::treatment::Preload;

intervention! {
    /// # bound-sscanf
    ///
    /// ## What it does
    /// libc's `sscanf` scans the whole rest of its string before it looks at the first character, so a loop that takes
    /// one token at a time from a long text needs time proportional to the square of its length. With this, strings
    /// over 1 KiB are passed to the same scanner one piece at a time. Results, `%n` and what is stored are the same.
    ///
    /// ## What it reaches
    /// Dynamically linked programs that call `sscanf` or `vsscanf` in libc. Not Go, not static programs, not programs
    /// that measure the string themselves (`strlen` in a loop), not what libc parses internally.
    ///
    /// ## How we know it took effect
    /// The shim counts the long strings that it passed on in pieces.
    ///
    /// ## What it cannot prove
    /// That the program is then fast: other work that grows with the input only shows once this is gone.
    pub const BOUND_SSCANF: Intervention = Intervention {
        name: "bound-sscanf",
        summary: "makes sscanf read no further than it must",
        predictions: &[Prediction::gains("P36"), Prediction::gains("P51")],
        doses: &[],
        unit: "",
        stands_on: &[],
        treat: |_, treatment| {
            treatment.preloads.push(Preload { shim: "bound-sscanf", parameter: "on".into() });
            Ok(())
        },
        applied: |counters| counters.of_shim("bound-sscanf"),
    };
}
