//! Where exactly a cliff is: the interval around it is halved until it is narrow enough.

use crate::cliff::Bracket;

/// So many measurements more on one side than on the other settle a value. A measurement that falls on the wrong side
/// one time in ten then settles a value wrongly one time in 80 (Wald's odds: (1/9)²).
const LEAD: i32 = 2;
/// Where so many do not settle it, the value lies on the cliff's own slope: whichever side has more takes it.
const MOST: u32 = 9;
/// From this ratio of its ends on, an interval is halved by ratio, not by distance: sizes are swept by powers.
const WIDE: f64 = 4.0;

/// A search within a [`Bracket`]: ask [`Bisection::next`] for a value, measure, [`Bisection::take`] the measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct Bisection {
    bracket: Bracket,
    grain: f64,
    /// The logarithm of the level between both sides.
    border: f64,
    /// Measurements at the next value like those above, less those like below.
    lead: i32,
    taken: u32,
}

impl Bisection {
    /// A search that tests multiples of `grain` (1 for whole numbers) and ends when the bracket is no wider.
    ///
    /// `None` where `grain` is not positive, or the bracket's levels are equal or not positive.
    pub fn new(bracket: Bracket, grain: f64) -> Option<Bisection> {
        let border = f64::midpoint(bracket.level_below.ln(), bracket.level_above.ln());
        let distinct = (bracket.level_below - bracket.level_above).abs() > 0.0;
        let sound = grain > 0.0 && border.is_finite() && distinct && bracket.below < bracket.above;
        sound.then_some(Bisection { bracket, grain, border, lead: 0, taken: 0 })
    }

    /// The value to measure next; `None` when the bracket is narrow enough.
    pub fn next(&self) -> Option<f64> {
        let Bracket { below, above, .. } = self.bracket;
        // Rounding must not ask for one more halving.
        if above - below <= self.grain * (1.0 + 1e-9) {
            return None;
        }
        let wide = below > 0.0 && above / below > WIDE;
        let middle = if wide { (below * above).sqrt() } else { f64::midpoint(below, above) };
        let value = (middle / self.grain).round() * self.grain;
        let value = if value <= below { value + self.grain } else { value };
        let value = if value >= above { value - self.grain } else { value };
        (below < value && value < above).then_some(value)
    }

    /// Takes a measurement at [`Bisection::next`]. Several may be asked for at the same value, until enough of them are
    /// on one side; one that is not positive and finite is dropped.
    pub fn take(&mut self, measurement: f64) {
        let Some(value) = self.next() else { return };
        if !measurement.is_finite() || measurement <= 0.0 {
            return;
        }
        let upwards = self.bracket.level_above > self.bracket.level_below;
        let like_above = (measurement.ln() > self.border) == upwards;
        self.lead += if like_above { 1 } else { -1 };
        self.taken += 1;
        if self.lead.abs() < LEAD && self.taken < MOST {
            return;
        }
        if self.lead > 0 {
            self.bracket.above = value;
        } else {
            self.bracket.below = value;
        }
        (self.lead, self.taken) = (0, 0);
    }

    /// What is known by now: the cliff lies between these values.
    pub fn bracket(&self) -> Bracket {
        self.bracket
    }
}

#[cfg(test)]
mod tests {
    use super::Bisection;
    use crate::cliff::Bracket;

    fn bracket(below: f64, above: f64) -> Bracket {
        Bracket { below, above, level_below: 1.0, level_above: 40.0, p: 0.01 }
    }

    /// Measures to the end; returns the bracket and how many measurements it took.
    fn search(mut bisection: Bisection, measure: impl Fn(f64, usize) -> f64) -> (Bracket, usize) {
        let mut taken = 0;
        while let Some(value) = bisection.next() {
            bisection.take(measure(value, taken));
            taken += 1;
            assert!(taken < 1000, "does not end");
        }
        (bisection.bracket(), taken)
    }

    #[test]
    fn a_cliff_is_found_to_the_byte() {
        let bisection = Bisection::new(bracket(1024.0, 65536.0), 1.0).unwrap();
        let (found, taken) = search(bisection, |size, _| if size > 1448.0 { 40.0 } else { 1.0 });
        assert_eq!((found.below, found.above), (1448.0, 1449.0));
        assert!(taken <= 2 * 17, "{taken}");
    }

    #[test]
    fn a_cliff_downwards_is_found_too() {
        let down = Bracket { level_below: 40.0, level_above: 1.0, ..bracket(0.0, 10.0) };
        let (found, _) = search(Bisection::new(down, 0.25).unwrap(), |at, _| if at > 3.3 { 1.0 } else { 40.0 });
        assert_eq!((found.below, found.above), (3.25, 3.5));
    }

    #[test]
    fn single_outliers_do_not_mislead() {
        let bisection = Bisection::new(bracket(0.0, 4096.0), 1.0).unwrap();
        let (found, _) = search(bisection, |size, taken| if size > 1448.0 || taken % 5 == 1 { 40.0 } else { 1.0 });
        assert_eq!((found.below, found.above), (1448.0, 1449.0));
    }

    #[test]
    fn a_value_on_the_slope_of_the_cliff_ends_the_asking() {
        let mut bisection = Bisection::new(bracket(0.0, 2.0), 1.0).unwrap();
        for taken in 0..9 {
            assert_eq!(bisection.next(), Some(1.0));
            bisection.take(if taken % 2 == 0 { 40.0 } else { 1.0 });
        }
        assert_eq!(bisection.next(), None);
    }

    #[test]
    fn measurements_without_a_logarithm_are_dropped() {
        let mut bisection = Bisection::new(bracket(0.0, 8.0), 1.0).unwrap();
        let before = bisection.clone();
        bisection.take(f64::NAN);
        bisection.take(0.0);
        assert_eq!(bisection, before);
    }

    #[test]
    fn brackets_that_cannot_be_searched_are_refused() {
        assert_eq!(Bisection::new(bracket(5.0, 5.0), 1.0), None);
        assert_eq!(Bisection::new(bracket(5.0, 9.0), 0.0), None);
        assert_eq!(Bisection::new(Bracket { level_above: 1.0, ..bracket(1.0, 2.0) }, 1.0), None);
    }
}
