//! The sham: the machinery of all interventions that are tried, attached and inert.

use super::Intervention;

/// Changes nothing.
pub const NOTHING: Intervention = Intervention {
    name: "nothing",
    summary: "attaches the machinery of the others and changes nothing",
    tried_for: &[],
    doses: &[],
    unit: "",
    stands_on: &[],
    arrange: |_, _| Ok(()),
    applied: |_| Ok(0),
};
