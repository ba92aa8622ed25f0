//! When to stop measuring: looks planned in advance share the 5 % of false alarms that the whole experiment may have.

use crate::ratio::{Ratio, ratio_of_pairs};

/// The looks of [`Looks::standard`]: after how many pairs, and which share of experiments without any difference may
/// raise an alarm there. The shares add up to 5 %, so that the rule holds however the looks depend on each other.
///
/// The first two get less: Student's t rests on the noise being near normal there, and what so few pairs can tell is so
/// large that a wider interval tells it too. Eight pairs get 2 of 2⁸, with which the signed ranks begin to tell: all
/// eight on one side. Twelve get 20 of 2¹² for the same reason, and the rest is shared evenly by looks that grow by
/// about a half, as each brings little that is new otherwise.
const STANDARD: [Look; 11] = [
    Look { pairs: 4, share: 0.002 },
    Look { pairs: 6, share: 0.003 },
    Look { pairs: 8, share: 0.0079 },
    Look { pairs: 12, share: 0.0049 },
    Look { pairs: 16, share: 0.0046 },
    Look { pairs: 24, share: 0.0046 },
    Look { pairs: 32, share: 0.0046 },
    Look { pairs: 48, share: 0.0046 },
    Look { pairs: 64, share: 0.0046 },
    Look { pairs: 96, share: 0.0046 },
    Look { pairs: 128, share: 0.0046 },
];

/// From this many pairs on, the ranks can and must find a difference surprising; 2 of 2⁴ is the least that four can.
const CHECKED_FROM: usize = 5;
/// A difference that the ranks find this unsurprising rests on a few pairs: stay open.
const UNSURPRISING: f64 = 0.10;

/// One planned look at the data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// After how many pairs.
    pub pairs: usize,
    /// Which share of experiments without any difference may raise an alarm at it.
    pub share: f64,
}

/// What a look decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The interval excludes 1: the arms differ, by however little.
    Differs,
    /// The interval contains 1 and lies within the range of differences that do not matter.
    Same,
    /// More pairs are needed.
    Open,
}

/// The sequential rule: intervals that hold together, at every look, with 95 % confidence.
#[derive(Clone, Debug, PartialEq)]
pub struct Looks {
    looks: Vec<Look>,
}

impl Looks {
    /// After 4, 6, 8, 12, 16, ... 128 pairs, 5 % of false alarms in all.
    pub fn standard() -> Looks {
        Looks { looks: STANDARD.to_vec() }
    }

    /// The same looks, with this part of the false alarms at each: for several questions that share the 5 %.
    #[must_use]
    pub fn sharing(mut self, part: f64) -> Looks {
        self.looks.iter_mut().for_each(|look| look.share *= part);
        self
    }

    /// The looks, in order.
    pub fn planned(&self) -> &[Look] {
        &self.looks
    }

    /// Whether a look is planned after this many pairs.
    pub fn is_look(&self, pairs: usize) -> bool {
        self.looks.iter().any(|look| look.pairs == pairs)
    }

    /// After how many pairs the last look is.
    pub fn most(&self) -> usize {
        self.looks.last().map_or(0, |look| look.pairs)
    }

    /// The ratio with its interval at the last look that was passed, from the pairs that there were then; it holds
    /// however often one has looked. Pairs measured since do not count until the next look, or [`Looks::at_end`].
    ///
    /// `None` before the first look, or where a value is not positive and finite.
    pub fn interval(&self, pairs: &[(f64, f64)]) -> Option<Ratio> {
        let look = self.looks.iter().rev().find(|look| look.pairs <= pairs.len())?;
        ratio_of_pairs(&pairs[..look.pairs], 1.0 - look.share)
    }

    /// The ratio with its interval from all pairs, where the budget and not the data ended the experiment between two
    /// looks: the next look is taken early. To be asked once, at the end.
    ///
    /// `None` for fewer than two pairs, or where a value is not positive and finite.
    pub fn at_end(&self, pairs: &[(f64, f64)]) -> Option<Ratio> {
        let last = self.looks.last()?;
        let look = self.looks.iter().find(|look| look.pairs >= pairs.len()).unwrap_or(last);
        let pairs = &pairs[..pairs.len().min(last.pairs)];
        ratio_of_pairs(pairs, 1.0 - look.share)
    }

    /// What the last look that was passed decides. A ratio between 1/`worth` and `worth` (such as 1.05) is too small to
    /// matter.
    pub fn decide(&self, pairs: &[(f64, f64)], worth: f64) -> Decision {
        self.interval(pairs).map_or(Decision::Open, |ratio| decision(&ratio, worth))
    }
}

/// What an interval of [`Looks::interval`] or [`Looks::at_end`] decides.
pub fn decision(ratio: &Ratio, worth: f64) -> Decision {
    let contradicted = ratio.pairs >= CHECKED_FROM && ratio.rank_p > UNSURPRISING;
    match (ratio.differs(), ratio.within(worth)) {
        (true, _) if contradicted => Decision::Open,
        (true, _) => Decision::Differs,
        (false, true) => Decision::Same,
        (false, false) => Decision::Open,
    }
}

#[cfg(test)]
mod tests {
    use super::{Decision, Looks};

    /// Pairs whose logarithms go round a circle of spread about `ratio`.
    fn pairs(count: usize, ratio: f64, spread: f64) -> Vec<(f64, f64)> {
        (0..count).map(|place| (ratio * (spread * (place as f64 * 2.4).sin()).exp(), 1.0)).collect()
    }

    #[test]
    fn the_shares_of_all_looks_add_up_to_five_percent() {
        let all: f64 = Looks::standard().planned().iter().map(|look| look.share).sum();
        assert!((all - 0.05).abs() < 1e-12, "{all}");
    }

    #[test]
    fn looks_follow_each_other_at_even_numbers_of_pairs() {
        let looks = Looks::standard();
        assert!(looks.planned().windows(2).all(|two| two[0].pairs < two[1].pairs));
        assert!(looks.planned().iter().all(|look| look.pairs % 2 == 0), "a block is two rounds");
        assert!(looks.is_look(4) && looks.is_look(looks.most()) && !looks.is_look(5));
    }

    #[test]
    fn four_pairs_show_a_large_effect() {
        assert_eq!(Looks::standard().decide(&pairs(4, 2.0, 0.05), 1.05), Decision::Differs);
        assert_eq!(Looks::standard().decide(&pairs(4, 0.5, 0.05), 1.05), Decision::Differs);
    }

    #[test]
    fn four_pairs_do_not_show_a_small_one() {
        assert_eq!(Looks::standard().decide(&pairs(4, 1.03, 0.05), 1.05), Decision::Open);
    }

    #[test]
    fn equal_arms_become_the_same_when_the_interval_is_narrow_enough() {
        assert_eq!(Looks::standard().decide(&pairs(8, 1.0, 0.05), 1.05), Decision::Open);
        assert_eq!(Looks::standard().decide(&pairs(32, 1.0, 0.05), 1.05), Decision::Same);
    }

    #[test]
    fn pairs_after_a_look_wait_for_the_next() {
        let looks = Looks::standard();
        let many = pairs(15, 1.1, 0.1);
        assert_eq!(looks.interval(&many), looks.interval(&many[..12]));
        assert_eq!(looks.interval(&many[..3]), None);
        assert_eq!(looks.decide(&many[..3], 1.05), Decision::Open);
    }

    #[test]
    fn the_end_of_the_budget_takes_the_next_look_early() {
        let looks = Looks::standard();
        let many = pairs(15, 1.1, 0.1);
        let end = looks.at_end(&many).unwrap();
        assert_eq!(end.pairs, 15);
        assert_eq!(looks.at_end(&many[..12]), looks.interval(&many[..12]));
        assert_eq!(looks.at_end(&pairs(200, 1.1, 0.1)).unwrap().pairs, looks.most());
    }

    #[test]
    fn a_difference_that_rests_on_few_pairs_stays_open() {
        // Two of eight pairs are large and the rest lean the other way by next to nothing.
        let pairs = [1.0e9, 1.0e9, 0.99, 0.99, 0.99, 0.99, 0.99, 0.99].map(|ratio: f64| (ratio, 1.0));
        assert_eq!(Looks::standard().decide(&pairs, 1.05), Decision::Open);
    }

    #[test]
    fn a_value_without_a_logarithm_decides_nothing() {
        let mut spoilt = pairs(8, 2.0, 0.01);
        spoilt[3].0 = f64::NAN;
        assert_eq!(Looks::standard().decide(&spoilt, 1.05), Decision::Open);
    }
}
