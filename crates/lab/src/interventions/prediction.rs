//! What an intervention must do if a pathology is the cause. A verdict weighs all predictions of a finding together.

use case::Purpose;

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
}

impl Prediction {
    /// It removes the cause: the cost goes.
    pub const fn gains(pathology: &'static str) -> Prediction {
        Prediction { pathology, purpose: Purpose::Cause, beside: "" }
    }

    /// It is close to the cause and leaves it alone: the cost stays.
    pub const fn does_nothing(pathology: &'static str) -> Prediction {
        Prediction { pathology, purpose: Purpose::Control, beside: "" }
    }

    /// It scales the cause: the cost rises with the dose.
    pub const fn scales(pathology: &'static str) -> Prediction {
        Prediction { pathology, purpose: Purpose::Dose, beside: "" }
    }

    /// On top of what it stands on it gains more.
    pub const fn adds(pathology: &'static str) -> Prediction {
        Prediction { pathology, purpose: Purpose::Incremental, beside: "" }
    }

    /// It removes more than the cause: its gain alone, where what removes just the cause gains nothing, is explained by that.
    #[must_use]
    pub const fn beside(self, what: &'static str) -> Prediction {
        Prediction { beside: what, ..self }
    }
}
