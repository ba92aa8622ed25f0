//! The series as a picture: each value, the levels, and where the steps are.

use super::words::value;
use crate::block::{Block, Section};
use crate::chart::{Figure, Plot, Px, Shape, Size};
use crate::document::Document;
use crate::figure::three;
use crate::scale::Scale;
use case::{Quantity, Steps};

pub(crate) const BLOCK: Block = Block::drawn(Section::OverTime, html);

const HEIGHT: f64 = 260.0;
const LEFT: f64 = 78.0;
const RIGHT: f64 = 26.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 220.0;

/// A number without digits that say nothing: `2`, `2.5`.
fn bare(value: f64) -> String {
    let text = three(value);
    if text.contains('.') && !text.contains('e') {
        return text.trim_end_matches('0').trim_end_matches('.').to_string();
    }
    text
}

fn html(document: &Document) -> String {
    let Some(series) = document.steps().filter(|series| !series.samples.is_empty()) else { return String::new() };
    let caption = match (series.quantity, series.steps.is_empty()) {
        (Quantity::BitsPerSecond, true) => "Rate over time, in seconds. Line: the level.",
        (Quantity::BitsPerSecond, false) => {
            "Rate over time, in seconds. Lines: levels. Dashed vertical line: a step; shaded: its 95 % interval."
        }
        (Quantity::Number, true) => "Values over time, in seconds. Line: the level.",
        (Quantity::Number, false) => {
            "Values over time, in seconds. Lines: levels. Dashed vertical line: a step; shaded: its 95 % interval."
        }
    };
    let plots = Size::BOTH.map(|size| plot(series, size)).into();
    let (said, caption) = ("The series over time".to_string(), caption.to_string());
    Figure { class: "over-time series", height: HEIGHT, said, caption, is_caption_first: false, plots }.html()
}

fn plot(series: &Steps, size: Size) -> Plot {
    let (left, right) = (LEFT, size.width() - RIGHT);
    let last = series.samples.last().map_or(0.0, |one| one.at_s + one.length_s);
    let across = Scale::linear(0.0, last, left, right);
    let values = series.samples.iter().map(|one| one.value);
    let (least, most) = values.fold((0.0f64, 0.0f64), |(low, high), value| (low.min(value), high.max(value)));
    let up = Scale::linear(least, most, BOTTOM, TOP);
    let mut path = format!("M{} {}", Px(across.place(0.0)), Px(BOTTOM));
    for one in &series.samples {
        path += &format!(
            "H{}V{}H{}",
            Px(across.place(one.at_s)),
            Px(up.place(one.value)),
            Px(across.place(one.at_s + one.length_s))
        );
    }
    let level = |one: &case::Level| {
        let (from, to) = (Px(across.place(one.from_s)), Px(across.place(one.to_s)));
        Shape::Path("level", format!("M{from} {}H{to}", Px(up.place(one.value))))
    };
    let interval = |step: &case::Step| {
        let (from, to) = (across.place(step.low_s), across.place(step.high_s));
        Shape::Band("interval", Px(from), Px((to - from).max(0.0)))
    };
    let mut shapes = vec![Shape::Path("all", path + &format!("V{}Z", Px(BOTTOM)))];
    shapes.extend(series.steps.iter().map(interval));
    shapes.extend(series.levels.iter().map(level));
    shapes.extend(series.steps.iter().map(|step| Shape::Upright("onset", Px(across.place(step.at_s)))));
    let apart = if size == Size::Wide { 110.0 } else { 80.0 };
    let label = |one: f64| if one == 0.0 { "0".to_string() } else { value(series.quantity, one) };
    Plot {
        size,
        left: Px(left),
        right: Px(right),
        top: Px(TOP),
        bottom: Px(BOTTOM),
        up: up.marks(40.0).into_iter().map(|one| (Px(up.place(one)), label(one))).collect(),
        across: across.marks(apart).into_iter().map(|one| (Px(across.place(one)), bare(one))).collect(),
        shapes,
    }
}
