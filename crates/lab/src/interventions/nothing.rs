//! The sham: the machinery of all interventions that are tried, attached and inert.

use super::{Intervention, intervention};

intervention! {
    /// # nothing
    ///
    /// ## What it does
    /// Attaches the machinery of every other intervention that is tried, and changes nothing: shims pass through what
    /// they see, the program on sockets leaves them as they are. It is the sham that each of them is compared with, so
    /// that what the machinery itself costs is on both sides. `plain`, with nothing attached at all, tells what that
    /// is.
    pub const NOTHING: Intervention = Intervention {
        name: "nothing",
        summary: "attaches the machinery of the others and changes nothing",
        tried_for: &[],
        doses: &[],
        unit: "",
        stands_on: &[],
        treat: |_, _| Ok(()),
        applied: |_| Ok(0),
    };
}
