//! The sham: the machinery of all interventions that are tried, attached and inert.

use super::{Intervention, intervention};

intervention! {
    /// # nothing
    ///
    /// ## What it does
    /// Attaches the machinery of all other interventions that are tried, but changes nothing: shims pass everything
    /// through, and the BPF program leaves sockets as they are. It is the sham that each intervention is compared with,
    /// so the cost of the machinery itself is on both sides. `plain`, with nothing attached at all, shows what that
    /// cost is.
    pub const NOTHING: Intervention = Intervention {
        name: "nothing",
        summary: "attaches the machinery of the others and changes nothing",
        predictions: &[],
        doses: &[],
        unit: "",
        stands_on: &[],
        treat: |_, _| Ok(()),
        applied: |_| Ok(0),
    };
}
