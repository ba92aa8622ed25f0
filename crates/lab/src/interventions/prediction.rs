//! What an intervention must do if a pathology is the cause. A verdict weighs all predictions of a finding together.

use case::Purpose;

/// Pathologies that can be switched off and have no control, and why none can be made.
pub const WITHOUT_CONTROL: &[(&str, &str)] = &[
    ("P05", "A spin lasts as long as what it spins for, so that whatever shortens that shortens the spin, too."),
    ("P22", "A small buffer empties as ACKs come: their delay, Nagle's algorithm and the other buffer all bear on it."),
    ("P24", "After a pause a connection begins with the window of a new one: whatever enlarges that helps here, too."),
    (
        "P37",
        "From outside the heap can be made larger and forced collections ignored: nothing beside these is left for a control.",
    ),
    ("P57", "Whatever a tracer is spared, the program that it traces is spared as well."),
    ("P59", "More CPUs help, whichever they are: there is nothing beside them that must not."),
];

/// One prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prediction {
    /// The pathology, by its identifier.
    pub pathology: &'static str,
    /// What it is tried for, which says what must come of it: gain at least a tenth of the suspected cost, nothing at all, or an
    /// effect that rises with the dose.
    pub purpose: Purpose,
    /// What else it changes and could gain by, as a clause with its own subject (`it also makes fewer system calls`); empty where
    /// it removes the cause and nothing else.
    pub beside: &'static str,
    /// Why it may gain nothing though that is the cause, as a clause (what it does costs something itself; what the program sets
    /// counts for more, unseen): that refutes nothing then. Empty where nothing gained is no cause.
    pub refutes_nothing: &'static str,
}

impl Prediction {
    /// It removes the cause: the cost goes.
    pub const fn gains(pathology: &'static str) -> Prediction {
        Prediction { pathology, purpose: Purpose::Cause, beside: "", refutes_nothing: "" }
    }

    /// It is close to the cause and leaves it alone: the cost stays.
    pub const fn does_nothing(pathology: &'static str) -> Prediction {
        Prediction { pathology, purpose: Purpose::Control, beside: "", refutes_nothing: "" }
    }

    /// It scales the cause: the cost rises with the dose.
    pub const fn scales(pathology: &'static str) -> Prediction {
        Prediction { pathology, purpose: Purpose::Dose, beside: "", refutes_nothing: "" }
    }

    /// On top of what it stands on it gains more.
    pub const fn adds(pathology: &'static str) -> Prediction {
        Prediction { pathology, purpose: Purpose::Incremental, beside: "", refutes_nothing: "" }
    }

    /// It removes more than the cause: its gain alone, where what removes just the cause gains nothing, is explained by that.
    #[must_use]
    pub const fn beside(self, what: &'static str) -> Prediction {
        Prediction { beside: what, ..self }
    }

    /// It may gain nothing though that is the cause.
    #[must_use]
    pub const fn refutes_nothing(self, why: &'static str) -> Prediction {
        Prediction { refutes_nothing: why, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interventions::ALL;
    use std::collections::BTreeSet;

    /// The pathologies for which there is a prediction of one of these purposes.
    fn predicted(purposes: &[Purpose]) -> BTreeSet<&'static str> {
        let all = ALL.iter().flat_map(|one| one.predictions);
        all.filter(|one| purposes.contains(&one.purpose)).map(|one| one.pathology).collect()
    }

    #[test]
    fn whatever_can_be_proved_has_a_control_or_a_reason_why_it_has_none() {
        let proved = predicted(&[Purpose::Cause]);
        // The routes of P01 and P02 are a cure at one end and the control at the other.
        let mut controlled = predicted(&[Purpose::Control]);
        controlled.extend(["P01", "P02"]);
        let without = WITHOUT_CONTROL.iter().map(|(pathology, _)| *pathology).collect::<BTreeSet<_>>();
        assert_eq!(proved, &controlled | &without, "each has one or the other, and nothing else has");
        assert!(controlled.is_disjoint(&without));
        assert!(WITHOUT_CONTROL.iter().all(|(_, why)| why.ends_with('.')));
    }

    #[test]
    fn no_intervention_is_tried_twice_for_one_pathology() {
        for one in ALL {
            let pathologies = one.predictions.iter().map(|one| one.pathology).collect::<BTreeSet<_>>();
            assert_eq!(pathologies.len(), one.predictions.len(), "{}", one.name);
        }
    }
}
