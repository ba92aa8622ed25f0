//! A scale: where on a drawn axis a value lies, and which round values are written beside it. Everything it returns is
//! finite, whatever it is asked.

/// An axis whose values span more than this factor is logarithmic where that is left open.
const LARGEST_LINEAR_SPAN: f64 = 8.0;
/// An axis spans at least this factor: below it, three digits do not tell its marks apart.
const LEAST_SPAN: f64 = 1.1;
/// Over fewer decades than this, round values are steps of equal length, as on a linear axis.
const FEW_DECADES: f64 = 0.6;
/// Over more decades than this, only powers of ten are written.
const MANY_DECADES: f64 = 3.5;

/// A scale from values to places in a drawing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    logarithmic: bool,
}

impl Scale {
    /// A logarithmic scale over all values above 0; none without one. `from` and `to` are where its ends are drawn.
    pub(super) fn logarithmic(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Option<Scale> {
        let (low, high) = extremes(values.filter(|value| *value > 0.0))?;
        let span = high / low;
        if span >= LEAST_SPAN {
            return Some(Scale { low: low.log10(), high: high.log10(), from, to, logarithmic: true });
        }
        // All equal, or nearly: in the middle of an axis that shows how little they differ.
        let middle = low * span.sqrt();
        let (low, high) = (middle / LEAST_SPAN, middle * LEAST_SPAN);
        Some(Scale { low: low.log10(), high: high.log10(), from, to, logarithmic: true })
    }

    /// A linear scale from 0 to the largest value; none without a finite value.
    pub(super) fn from_zero(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Option<Scale> {
        let (low, high) = extremes(values)?;
        Some(Scale::linear(low.min(0.0), high, from, to))
    }

    /// A linear scale between two values.
    pub(super) fn linear(low: f64, high: f64, from: f64, to: f64) -> Scale {
        // A single value still needs a length.
        let high = if high > low { high } else { low + low.abs().max(1.0) };
        Scale { low, high, from, to, logarithmic: false }
    }

    /// Logarithmic where the values span more than a factor of 8, else linear from where it is asked to
    /// begin.
    pub(super) fn fitting(
        values: impl Iterator<Item = f64> + Clone,
        start: Start,
        from: f64,
        to: f64,
    ) -> Option<Scale> {
        let (low, high) = extremes(values.clone())?;
        if low > 0.0 && high / low > LARGEST_LINEAR_SPAN {
            return Scale::logarithmic(values, from, to);
        }
        match start {
            Start::Zero => Scale::from_zero(values, from, to),
            Start::Lowest => Some(Scale::linear(low, high, from, to)),
        }
    }

    /// Whether it is logarithmic.
    pub(super) fn is_logarithmic(&self) -> bool {
        self.logarithmic
    }

    /// The same scale with room beyond its ends, a share of its length on either side.
    pub(super) fn widened(self, share: f64) -> Scale {
        let more = (self.high - self.low) * share;
        let low = if self.logarithmic || self.low != 0.0 { self.low - more } else { self.low };
        Scale { low, high: self.high + more, ..self }
    }

    /// Where a value is drawn: the nearest end where it lies outside.
    pub(super) fn place(&self, value: f64) -> f64 {
        let value = if self.logarithmic { value.max(f64::MIN_POSITIVE).log10() } else { value };
        let share = ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        let share = if share.is_finite() { share } else { 0.0 };
        self.from + share * (self.to - self.from)
    }

    /// Round values on the axis, those that are to be written first; neighbours are at least `apart` away from each
    /// other in the drawing.
    pub(super) fn marks(&self, apart: f64) -> Vec<f64> {
        let mut marks: Vec<f64> = Vec::new();
        for value in self.round_values((self.to - self.from).abs() / apart.max(1.0)) {
            if marks.iter().all(|other| (self.place(*other) - self.place(value)).abs() >= apart) {
                marks.push(value);
            }
        }
        marks.sort_by(f64::total_cmp);
        marks
    }

    /// Round values, the roundest first.
    fn round_values(&self, most: f64) -> Vec<f64> {
        if !self.logarithmic {
            return steps(self.low, self.high, most.clamp(2.0, 6.0));
        }
        let decades = self.high - self.low;
        if decades < FEW_DECADES {
            return steps(10f64.powf(self.low), 10f64.powf(self.high), most.clamp(2.0, 6.0));
        }
        let of = |factor: f64| {
            let powers = (self.low.floor() as i32)..=(self.high.ceil() as i32);
            powers.map(move |power| factor * 10f64.powi(power))
        };
        let fine = if decades > MANY_DECADES { Vec::new() } else { of(3.0).chain(of(2.0)).chain(of(5.0)).collect() };
        let all = of(1.0).chain(fine);
        // The power of ten is computed: the ends themselves may fall a last digit outside.
        all.filter(|value| (self.low - 1e-9..=self.high + 1e-9).contains(&value.log10())).collect()
    }
}

/// Where a linear axis begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// At 0, so that what is level looks level.
    Zero,
    /// At the lowest value.
    Lowest,
}

/// Multiples of a round step, about as many as there is room for.
fn steps(low: f64, high: f64, most: f64) -> Vec<f64> {
    let rough = (high - low) / most;
    let unit = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * unit).into_iter().find(|step| *step >= rough);
    let step = step.unwrap_or(rough);
    if !(step.is_finite() && step > 0.0) {
        return Vec::new();
    }
    let (first, last) = ((low / step - 1e-9).ceil() as i64, (high / step + 1e-9).floor() as i64);
    (first..=last).take(100).map(|index| index as f64 * step).collect()
}

fn extremes(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let finite = values.filter(|value| value.is_finite());
    let (low, high) =
        finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    (low <= high).then_some((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64]) -> Scale {
        Scale::logarithmic(values.iter().copied(), 0.0, 600.0).expect("a scale")
    }

    #[test]
    fn three_decades_are_marked_by_their_powers_and_round_values_between() {
        let marks = of(&[1e5, 1e8]).marks(60.0);
        assert!([1e5, 1e6, 1e7, 1e8].iter().all(|mark| marks.contains(mark)), "{marks:?}");
        assert!((4..=10).contains(&marks.len()), "{marks:?}");
        assert!(of(&[1e2, 1e10]).marks(60.0).iter().all(|mark| mark.log10().fract().abs() < 1e-9));
    }

    #[test]
    fn a_tenth_of_a_decade_and_equal_values_have_marks_too() {
        for values in [[4.0e7, 5.0e7], [4.38e7, 4.38e7], [4.38e7, 4.381e7]] {
            let scale = of(&values);
            let marks = scale.marks(60.0);
            assert!((2..=10).contains(&marks.len()), "{values:?} {marks:?}");
            assert!(marks.iter().all(|mark| (0.0..=600.0).contains(&scale.place(*mark))));
        }
        assert!((of(&[5.0, 5.0]).place(5.0) - 300.0).abs() < 1e-6);
    }

    #[test]
    fn what_cannot_be_drawn_is_drawn_at_an_end() {
        let scale = of(&[1.0, 100.0]);
        let places = [0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY].map(|value| scale.place(value));
        assert!(places.iter().all(|place| place.is_finite()), "{places:?}");
        assert!(Scale::logarithmic([0.0, f64::NAN].into_iter(), 0.0, 1.0).is_none());
        assert!(Scale::linear(0.0, 0.0, 0.0, 10.0).place(0.0).is_finite());
    }

    #[test]
    fn a_wide_span_is_logarithmic_and_a_narrow_one_begins_where_it_should() {
        let scale = |values: &[f64], start| Scale::fitting(values.iter().copied(), start, 0.0, 100.0).expect("one");
        assert!(scale(&[1.0, 10.0], Start::Zero).is_logarithmic());
        assert!((scale(&[4.0, 8.0], Start::Zero).place(4.0) - 50.0).abs() < 1e-9);
        assert!(scale(&[4.0, 8.0], Start::Lowest).place(4.0).abs() < 1e-9);
    }
}
