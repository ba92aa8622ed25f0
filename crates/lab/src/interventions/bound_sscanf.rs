//! `bound-sscanf`: sscanf reads no further than it must.

use super::{Intervention, Purpose, intervention};
use crate::treatment::Preload;

intervention! {
    /// # bound-sscanf
    ///
    /// ## What it does
    /// libc's `sscanf` measures the whole rest of its string before it looks at the first character, so that a loop
    /// that takes a token at a time from a long text takes time with the square of its length. With this, strings over
    /// 1 KiB are handed to the same scanner a piece at a time. Results, `%n` and what is stored are the same.
    ///
    /// ## What it reaches
    /// Programs that load libc dynamically and call `sscanf` or `vsscanf`. Not Go, not static programs, not programs
    /// that measure the string themselves (`strlen` in a loop), not what libc parses within itself.
    ///
    /// ## How it is told that it took hold
    /// The shim counts long strings that it handed over in pieces.
    ///
    /// ## What it cannot prove
    /// That the program is then fast: what else grows with its input only shows once this is gone.
    pub const BOUND_SSCANF: Intervention = Intervention {
        name: "bound-sscanf",
        summary: "lets sscanf read no further than it must",
        tried_for: &[("P36", Purpose::Cause), ("P51", Purpose::Cause)],
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
