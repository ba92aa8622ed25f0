//! The series as a picture: each value, the levels, and where the steps are.

use super::words::value;
use crate::block::{Block, Section};
use crate::chart::{Px, Size};
use crate::document::Document;
use crate::figure::three;
use crate::scale::Scale;
use askama::Template;
use case::{Quantity, Steps};

pub(crate) const BLOCK: Block = Block::drawn(Section::OverTime, html);

const HEIGHT: f64 = 260.0;
const LEFT: f64 = 78.0;
const RIGHT: f64 = 26.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 220.0;

#[derive(Template)]
#[template(
    source = r#"<figure>
{% for chart in charts %}<svg class="over-time {{ chart.size.class() }}" viewBox="0 0 {{ chart.size.width() }} {{ height }}" role="img" aria-label="The series over time">
{% for (y, label) in chart.up %}<path class="grid" d="M{{ chart.left }} {{ y }}H{{ chart.right }}"/><text class="up" x="{{ chart.left }}" dx="-6" dy="4" y="{{ y }}">{{ label }}</text>
{% endfor %}<path class="all" d="{{ chart.values }}"/>
{% for (x, width) in chart.intervals %}<rect class="interval" x="{{ x }}" y="{{ chart.top }}" width="{{ width }}" height="{{ chart.tall }}"/>
{% endfor %}{% for level in chart.levels %}<path class="level" d="{{ level }}"/>
{% endfor %}{% for x in chart.steps %}<path class="onset" d="M{{ x }} {{ chart.top }}V{{ chart.bottom }}"/>
{% endfor %}<path class="axis" d="M{{ chart.left }} {{ chart.bottom }}H{{ chart.right }}"/>
{% for (x, label) in chart.across %}<path class="axis" d="M{{ x }} {{ chart.bottom }}v5"/><text class="middle" x="{{ x }}" y="{{ chart.bottom }}" dy="19">{{ label }}</text>
{% endfor %}</svg>
{% endfor %}<figcaption>{{ caption }}</figcaption>
</figure>
"#,
    ext = "html"
)]
struct Drawn {
    charts: Vec<Chart>,
    height: f64,
    caption: &'static str,
}

/// A number without digits that say nothing: `2`, `2.5`.
fn bare(value: f64) -> String {
    let text = three(value);
    if text.contains('.') && !text.contains('e') {
        return text.trim_end_matches('0').trim_end_matches('.').to_string();
    }
    text
}

/// The chart in one size.
struct Chart {
    size: Size,
    left: Px,
    right: Px,
    top: Px,
    bottom: Px,
    tall: Px,
    up: Vec<(Px, String)>,
    across: Vec<(Px, String)>,
    values: String,
    levels: Vec<String>,
    steps: Vec<Px>,
    intervals: Vec<(Px, Px)>,
}

fn html(document: &Document) -> String {
    let Some(series) = document.steps().filter(|series| !series.samples.is_empty()) else { return String::new() };
    let caption = match (series.quantity, series.steps.is_empty()) {
        (Quantity::BitsPerSecond, true) => "Rate over time, in seconds. The line: the level.",
        (Quantity::BitsPerSecond, false) => {
            "Rate over time, in seconds. Lines: levels. Dashed, upright: a step; shaded: where it may be as well."
        }
        (Quantity::Number, true) => "Values over time, in seconds. The line: the level.",
        (Quantity::Number, false) => {
            "Values over time, in seconds. Lines: levels. Dashed, upright: a step; shaded: where it may be as well."
        }
    };
    let drawn = Drawn { charts: Size::BOTH.map(|size| chart(series, size)).into(), height: HEIGHT, caption };
    drawn.render().unwrap_or_default()
}

fn chart(series: &Steps, size: Size) -> Chart {
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
        format!("M{} {}H{}", Px(across.place(one.from_s)), Px(up.place(one.value)), Px(across.place(one.to_s)))
    };
    let interval = |step: &case::Step| {
        let (from, to) = (across.place(step.low_s), across.place(step.high_s));
        (Px(from), Px((to - from).max(0.0)))
    };
    let apart = if size == Size::Wide { 110.0 } else { 80.0 };
    let label = |one: f64| if one == 0.0 { "0".to_string() } else { value(series.quantity, one) };
    Chart {
        size,
        left: Px(left),
        right: Px(right),
        top: Px(TOP),
        bottom: Px(BOTTOM),
        tall: Px(BOTTOM - TOP),
        up: up.marks(40.0).into_iter().map(|one| (Px(up.place(one)), label(one))).collect(),
        across: across.marks(apart).into_iter().map(|one| (Px(across.place(one)), bare(one))).collect(),
        values: path + &format!("V{}Z", Px(BOTTOM)),
        levels: series.levels.iter().map(level).collect(),
        steps: series.steps.iter().map(|step| Px(across.place(step.at_s))).collect(),
        intervals: series.steps.iter().map(interval).collect(),
    }
}
