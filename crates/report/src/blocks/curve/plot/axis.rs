//! One axis of the picture: which cell a value falls into, and which round values are written beside it.

/// An axis whose values span more than this factor is logarithmic.
const LARGEST_LINEAR_SPAN: f64 = 8.0;
/// Round values are written at most this often.
const MOST_MARKS: f64 = 5.0;

/// Where an axis begins that is not logarithmic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// At 0, so that what is level looks level.
    Zero,
    /// At the lowest value.
    Lowest,
}

/// One axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    cells: usize,
    logarithmic: bool,
}

impl Axis {
    /// An axis of `cells` over all values; none without a finite value.
    pub(super) fn over(values: impl Iterator<Item = f64> + Clone, cells: usize, start: Start) -> Option<Axis> {
        let values = values.filter(|value| value.is_finite());
        let (low, high) =
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        if !(low.is_finite() && high.is_finite() && cells > 1) {
            return None;
        }
        if low > 0.0 && high / low > LARGEST_LINEAR_SPAN {
            return Some(Axis { low: low.log10(), high: high.log10(), cells, logarithmic: true });
        }
        let low = if start == Start::Zero { low.min(0.0) } else { low };
        // A single value of 0 still needs a length.
        let high = if high > low { high } else { low + 1.0 };
        Some(Axis { low, high, cells, logarithmic: false })
    }

    pub(super) fn is_logarithmic(&self) -> bool {
        self.logarithmic
    }

    /// The cell of a value, the nearest end's where it lies outside.
    pub(super) fn cell(&self, value: f64) -> usize {
        self.at(self.place(value))
    }

    /// The cell in the middle between two values, as the eye sees it.
    pub(super) fn between(&self, one: f64, other: f64) -> usize {
        self.at(f64::midpoint(self.place(one), self.place(other)))
    }

    fn place(&self, value: f64) -> f64 {
        let value = if self.logarithmic { value.log10() } else { value };
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    fn at(&self, place: f64) -> usize {
        ((place * (self.cells - 1) as f64).round() as usize).min(self.cells - 1)
    }

    /// Round values on the axis, at least two cells apart.
    pub(super) fn marks(&self) -> Vec<f64> {
        let mut marks: Vec<f64> = Vec::new();
        for mark in self.round_values() {
            let is_free = marks.iter().all(|other| self.cell(*other).abs_diff(self.cell(mark)) >= 2);
            if is_free {
                marks.push(mark);
            }
        }
        marks
    }

    /// Round values, the roundest first.
    fn round_values(&self) -> Vec<f64> {
        if self.logarithmic {
            let decades = (self.low.floor() as i32)..=(self.high.ceil() as i32);
            let of = |factor: f64| decades.clone().map(move |decade| factor * 10f64.powi(decade));
            let all = of(1.0).chain(of(5.0)).chain(of(2.0));
            return all.filter(|value| (self.low..=self.high).contains(&value.log10())).collect();
        }
        let rough = (self.high - self.low) / MOST_MARKS;
        let unit = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * unit).into_iter().find(|step| *step >= rough);
        let step = step.unwrap_or(rough);
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step).floor() as i64;
        (first..=last).map(|index| index as f64 * step).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_span_is_logarithmic_and_a_narrow_one_begins_where_it_should() {
        let wide = Axis::over([1.0, 100.0, 10_000.0].into_iter(), 41, Start::Zero).expect("an axis");
        assert!(wide.is_logarithmic());
        assert_eq!([1.0, 100.0, 10_000.0].map(|value| wide.cell(value)), [0, 20, 40]);
        let narrow = Axis::over([4.0, 8.0].into_iter(), 41, Start::Zero).expect("an axis");
        assert_eq!([0.0, 4.0, 8.0, 99.0].map(|value| narrow.cell(value)), [0, 20, 40, 40]);
        assert_eq!(narrow.marks(), [0.0, 2.0, 4.0, 6.0, 8.0]);
        let lowest = Axis::over([4.0, 8.0].into_iter(), 41, Start::Lowest).expect("an axis");
        assert_eq!([4.0, 6.0, 8.0].map(|value| lowest.cell(value)), [0, 20, 40]);
    }

    #[test]
    fn no_values_no_axis_and_one_value_is_one() {
        assert!(Axis::over([f64::NAN].into_iter(), 10, Start::Zero).is_none());
        assert_eq!(Axis::over([0.0].into_iter(), 10, Start::Lowest).expect("an axis").cell(0.0), 0);
    }
}
