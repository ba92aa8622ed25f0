//! One row: two lanes of dots, and the same in words.

use crate::chart::Px;
use crate::figure::pair;
use crate::scale::Scale;
use case::Metric;
use case::views::Dot;

/// Where the lanes are drawn, in pixels.
const LANES: [i32; 2] = [14, 40];
/// Dots lie on rows of their own in turn, this far from the lane's middle: they would cover each other, and the middle.
const SPREAD: [i32; 4] = [-6, 6, -3, 3];
/// More dots than this cannot be distinguished.
const MOST_DOTS: usize = 60;

/// A row that is not drawn yet.
#[derive(Default)]
pub(super) struct Measured {
    /// The intervention's name, to be found by.
    pub intervention: String,
    /// What the row is called.
    pub name: String,
    /// What it was tried for, where that is said with this row.
    pub group: String,
    /// The metric.
    pub metric: Metric,
    /// The trials of both lanes.
    pub dots: [Vec<Dot>; 2],
    /// The middles of both lanes; none where there is no result.
    pub middles: Option<[f64; 2]>,
    /// The ratio's interval, and whether it is the second lane over the first.
    pub interval: Option<(f64, f64)>,
    /// The ratio in words.
    pub factor: String,
    /// Its interval in words.
    pub range: String,
    /// What came of it, and the badge's class.
    pub word: (String, &'static str),
    /// What else is to be said.
    pub note: String,
    /// How many trials.
    pub trials: u32,
    /// Whether the ratio is the second over the first, as in comparisons.
    pub second_over_first: bool,
    /// Whether the second lane is the slower one.
    pub second_is_slower: bool,
}

/// A row as it is drawn.
pub(super) struct Row {
    /// The intervention's name, to be found by.
    pub intervention: String,
    /// What the row is called.
    pub name: String,
    /// What it was tried for; empty where the row above says it.
    pub group: String,
    /// Both lanes; none where there is nothing to draw.
    pub lanes: Vec<Lane>,
    /// The middles of both lanes, with their unit.
    pub figures: (String, String),
    /// The ratio in words.
    pub factor: String,
    /// Its interval in words.
    pub range: String,
    /// What came of it.
    pub word: String,
    /// The class of that word's badge.
    pub badge: &'static str,
    /// What else is to be said.
    pub note: String,
    /// How many trials.
    pub trials: u32,
}

/// One lane of dots.
pub(super) struct Lane {
    /// Its height in the drawing, in pixels.
    pub y: i32,
    /// `slow` or `fast`.
    pub class: &'static str,
    /// The trials.
    pub dots: Vec<DotView>,
    /// Where the middle is, in percent.
    pub middle: Option<Px>,
    /// The interval's ends, in percent.
    pub whisker: Option<(Px, Px)>,
}

/// One trial.
pub(super) struct DotView {
    /// Where it is, in percent.
    pub x: Px,
    /// And how high, in pixels.
    pub y: i32,
    /// Whether it does not count.
    pub hollow: bool,
}

impl Measured {
    /// Everything that has to find room on the axis.
    pub(super) fn values(&self) -> Vec<f64> {
        let dots = self.dots.iter().flatten().map(|dot| dot.value);
        let middles = self.middles.iter().flatten().copied();
        let ends = self.ends().into_iter().flat_map(|(low, high)| [low, high]);
        dots.chain(middles).chain(ends).filter(|value| value.is_finite() && *value > 0.0).collect()
    }

    /// The ratio's interval, laid off from the middle of the first lane.
    fn ends(&self) -> Option<(f64, f64)> {
        let ([first, _], (low, high)) = (self.middles?, self.interval?);
        if !(low > 0.0 && high > 0.0) {
            return None;
        }
        let grows = self.second_over_first || self.metric.more_is_better();
        Some(if grows { (first * low, first * high) } else { (first / high, first / low) })
    }

    /// The row on a scale.
    pub(super) fn drawn(self, scale: Option<&Scale>) -> Row {
        let ends = self.ends();
        let figures = self.middles.map(|[first, second]| pair(&self.metric, first, second)).unwrap_or_default();
        let lanes = scale.map(|scale| {
            let lane = |index: usize, class, whisker: Option<(f64, f64)>| Lane {
                y: LANES[index],
                class,
                dots: views(&self.dots[index], LANES[index], scale),
                middle: self.middles.map(|middles| Px(scale.place(middles[index]))),
                whisker: whisker.map(|(low, high)| (Px(scale.place(low)), Px(scale.place(high)))),
            };
            let classes = if self.second_is_slower { ["fast", "slow"] } else { ["slow", "fast"] };
            vec![lane(0, classes[0], None), lane(1, classes[1], ends)]
        });
        Row {
            intervention: self.intervention,
            name: self.name,
            group: self.group,
            lanes: lanes.unwrap_or_default(),
            figures,
            factor: self.factor,
            range: self.range,
            word: self.word.0,
            badge: self.word.1,
            note: self.note,
            trials: self.trials,
        }
    }
}

fn views(dots: &[Dot], lane: i32, scale: &Scale) -> Vec<DotView> {
    let places = SPREAD.iter().cycle().map(|spread| lane + spread);
    let dots = dots.iter().take(MOST_DOTS).zip(places);
    dots.map(|(dot, y)| DotView { x: Px(scale.place(dot.value)), y, hollow: !dot.counts }).collect()
}
