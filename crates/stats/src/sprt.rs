//! Wald's sequential probability ratio test of a mean: which of two it is, after as few values as may be.

/// Values are drawn around one of two means, with a spread that is known. The test adds up the logarithm of how much
/// likelier each value is under one than under the other, and ends when the sum is beyond ln((1 - e) / e), `e` being the
/// chance of a wrong answer (Wald 1945, "Sequential tests of statistical hypotheses").
///
/// One value alone never decides: what it adds is limited to half of that bound and a little, so that at least two agree. This
/// is Huber's robust test (1965): it costs a value or two where the noise is normal, and keeps the promised error where single
/// values lie far out.
#[derive(Clone, Debug)]
pub struct SequentialTest {
    middle: f64,
    slope: f64,
    bound: f64,
    sum: f64,
}

/// What one value adds at most, as a part of the bound: so little over a half that two that agree decide.
const MOST_OF_BOUND: f64 = 0.501;

/// Which mean it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mean {
    /// The first.
    First,
    /// The second.
    Second,
}

impl SequentialTest {
    /// Between two means of values whose standard deviation is `deviation`, wrong with the chance `error` either way.
    ///
    /// `None` where the means are the same, the deviation is not positive, or the chance not between 0 and 1/2.
    pub fn new(first: f64, second: f64, deviation: f64, error: f64) -> Option<SequentialTest> {
        let slope = (second - first) / (deviation * deviation);
        let is_sound = slope.is_finite() && slope != 0.0 && deviation > 0.0 && error > 0.0 && error < 0.5;
        let bound = ((1.0 - error) / error).ln();
        is_sound.then_some(SequentialTest { middle: f64::midpoint(first, second), slope, bound, sum: 0.0 })
    }

    /// Adds a value; one that is not a number is nothing.
    pub fn add(&mut self, value: f64) {
        let most = self.bound * MOST_OF_BOUND;
        let increment = (value - self.middle) * self.slope;
        if !increment.is_nan() {
            self.sum += increment.clamp(-most, most);
        }
    }

    /// The answer, where there is one.
    pub fn decision(&self) -> Option<Mean> {
        match self.sum {
            sum if sum >= self.bound => Some(Mean::Second),
            sum if sum <= -self.bound => Some(Mean::First),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Mean, SequentialTest};
    use crate::noise::normal;
    use fastrand::Rng;

    /// The share of wrong answers of 2,000 tests about the second mean, and the values they took on average.
    fn wrong(deviation: f64, supposed: f64, outliers: f64) -> (f64, f64) {
        let mut random = Rng::with_seed(3);
        let (mut wrong, mut taken) = (0, 0);
        for _ in 0..2_000 {
            let mut test = SequentialTest::new(0.0, 1.0, supposed, 0.001).unwrap();
            while test.decision().is_none() {
                let far = if random.f64() < outliers { 8.0 } else { 1.0 };
                test.add(1.0 + far * deviation * normal(&mut random));
                taken += 1;
            }
            wrong += i32::from(test.decision() == Some(Mean::First));
        }
        (f64::from(wrong) / 2_000.0, f64::from(taken) / 2_000.0)
    }

    #[test]
    fn it_is_wrong_as_rarely_as_it_promises() {
        for deviation in [0.05, 0.3, 1.0] {
            let (wrong, taken) = wrong(deviation, deviation, 0.0);
            assert!(wrong <= 0.002, "{wrong} at {deviation}");
            println!("deviation {deviation}: {taken:.1} values");
        }
        assert!(wrong(0.05, 0.05, 0.0).1 < 2.01, "what is clear takes two");
    }

    #[test]
    fn values_far_out_do_not_make_it_wrong() {
        let (wrong, taken) = wrong(0.3, 0.3, 0.05);
        assert!(wrong < 0.005, "{wrong}");
        println!("{taken:.1} values");
    }

    #[test]
    fn a_single_value_decides_nothing() {
        let mut test = SequentialTest::new(0.0, 1.0, 0.1, 0.001).unwrap();
        test.add(1e9);
        assert_eq!(test.decision(), None);
        test.add(f64::NAN);
        assert_eq!(test.decision(), None);
        test.add(1.0);
        assert_eq!(test.decision(), Some(Mean::Second));
    }

    #[test]
    fn means_that_are_the_same_cannot_be_distinguished() {
        assert!(SequentialTest::new(1.0, 1.0, 0.1, 0.001).is_none());
        assert!(SequentialTest::new(0.0, 1.0, 0.0, 0.001).is_none());
        assert!(SequentialTest::new(0.0, f64::NAN, 0.1, 0.001).is_none());
        assert!(SequentialTest::new(0.0, 1.0, 0.1, 0.5).is_none());
    }
}
