//! `sleep-scale`: sleeps made longer or shorter.

use super::{Intervention, NotHere, Prediction, intervention, pauses};
use crate::aspect::Aspect;
use crate::treatment::Preload;

/// The dose where none is asked for.
const HALF: f64 = 0.5;
/// Beyond these a sleep becomes a spin, or a trial outlives every budget.
const SANE: std::ops::RangeInclusive<f64> = 0.001..=1000.0;

intervention! {
    /// # sleep-scale
    ///
    /// ## What it does
    /// Multiplies the length of every sleep by its dose: `nanosleep`, `clock_nanosleep`, `usleep`, `sleep`, and `poll`
    /// and `select` without descriptors. If a program polls with sleeps in between, its latency must follow.
    ///
    /// ## What it reaches
    /// As `short-sleeps`. A sleep until a point in time is scaled by what is left until then, so a program that keeps a fixed
    /// beat keeps it.
    ///
    /// ## How we know it took effect
    /// The shim counts the sleeps it scaled.
    ///
    /// ## What it cannot prove
    /// That a sleep is useless: only how much of the waiting is due to it.
    pub const SLEEP_SCALE: Intervention = Intervention {
        name: "sleep-scale",
        summary: "multiplies the length of every sleep",
        predictions: &[Prediction::scales("P06")],
        doses: &[0.5, 2.0],
        unit: "times",
        stands_on: &[],
        // A client that asks until it may go on asks as often as it wakes.
        may_change: &[Aspect::Exchanges, Aspect::Bytes],
        treat: |request, treatment| {
            let factor = request.dose.unwrap_or(HALF);
            if !SANE.contains(&factor) {
                return Err(NotHere(format!("takes a factor from {} to {}, not {factor}", SANE.start(), SANE.end())));
            }
            let parameter = pauses::parameter(request, &format!("{factor:.6}"));
            treatment.preloads.push(Preload { shim: "sleep-scale", parameter });
            Ok(())
        },
        applied: |counters| counters.of_shim("sleep-scale"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interventions::Request;
    use crate::interventions::tests::request as usual;
    use crate::{Treatment, World};

    fn arranged(dose: Option<f64>) -> Result<String, NotHere> {
        let (world, mut treatment) = (World::default(), Treatment::default());
        let request = Request { has_server: false, dose, ..usual(&world) };
        (SLEEP_SCALE.treat)(&request, &mut treatment)?;
        Ok(treatment.preloads[0].parameter.clone())
    }

    #[test]
    fn the_dose_is_the_factor_and_half_where_none_is_asked_for() {
        assert_eq!(arranged(Some(2.0)).as_deref(), Ok("2.000000"));
        assert_eq!(arranged(None).as_deref(), Ok("0.500000"));
    }

    #[test]
    fn a_factor_that_makes_no_sense_is_refused() {
        for dose in [0.0, -1.0, f64::NAN, 1e9] {
            assert!(arranged(Some(dose)).is_err(), "{dose}");
        }
    }
}
