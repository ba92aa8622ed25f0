//! The chart: a dot a round, the levels between steps, and where each step may be.

use crate::blocks::traffic::words::moment;
use crate::chart::{Px, Size};
use crate::document::Document;
use crate::scale::Scale;
use askama::Template;
use case::{FeedHistory, Nanos};

const HEIGHT: f64 = 260.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 220.0;

#[derive(Template)]
#[template(
    source = r#"<figure>
{% for chart in charts %}<svg class="rounds {{ chart.size.class() }}" viewBox="0 0 {{ chart.size.width() }} {{ height }}" role="img" aria-label="Time of each round">
{% for (y, label) in chart.up %}<path class="grid" d="M{{ chart.left }} {{ y }}H{{ chart.right }}"/><text class="up" x="{{ chart.left }}" dx="-6" dy="4" y="{{ y }}">{{ label }}</text>
{% endfor %}{% for (x, width) in chart.maybe %}<rect class="maybe" x="{{ x }}" y="{{ chart.top }}" width="{{ width }}" height="{{ chart.tall }}"/>
{% endfor %}{% for (class, x, y) in chart.dots %}<circle class="{{ class }}" cx="{{ x }}" cy="{{ y }}" r="2.5"/>
{% endfor %}{% for (from, to, y) in chart.levels %}<path class="level" d="M{{ from }} {{ y }}H{{ to }}"/>
{% endfor %}{% for x in chart.onsets %}<path class="onset" d="M{{ x }} {{ chart.top }}V{{ chart.bottom }}"/>
{% endfor %}<path class="axis" d="M{{ chart.left }} {{ chart.bottom }}H{{ chart.right }}"/>
{% for (x, label) in chart.across %}<path class="axis" d="M{{ x }} {{ chart.bottom }}v5"/><text class="across" x="{{ x }}" y="{{ chart.bottom }}" dy="19">{{ label }}</text>
{% endfor %}</svg>
{% endfor %}<figcaption>{{ caption }}</figcaption>
</figure>
"#,
    ext = "html"
)]
struct Drawn {
    charts: Vec<Chart>,
    height: f64,
    caption: String,
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
    dots: Vec<(&'static str, Px, Px)>,
    levels: Vec<(Px, Px, Px)>,
    maybe: Vec<(Px, Px)>,
    onsets: Vec<Px>,
}

pub(super) fn html(document: &Document) -> String {
    let Some(history) = document.history().filter(|history| !history.rounds.is_empty()) else { return String::new() };
    let steps = if history.steps.is_empty() {
        ""
    } else {
        " Dashed, upright: where it changed; shaded: where that may have been (95 %). Orange: the median before and since."
    };
    let hollow =
        if history.rounds.iter().any(|round| round.interrupted) { " Hollow: interrupted, its last part." } else { "" };
    let caption = format!("Time of each round, by when it began (UTC).{steps}{hollow}");
    Drawn { charts: Size::BOTH.map(|size| chart(history, size)).into(), height: HEIGHT, caption }
        .render()
        .unwrap_or_default()
}

fn chart(history: &FeedHistory, size: Size) -> Chart {
    let rounds = &history.rounds;
    let (left, right) = (LEFT, size.width() - RIGHT);
    let (first, last) = (rounds[0].began_s, rounds[rounds.len() - 1].began_s);
    let across = Scale::linear(first as f64, last as f64, left, right);
    let most = rounds.iter().map(|round| round.wall_ns).max().unwrap_or(1);
    let up = Scale::linear(0.0, most as f64, BOTTOM, TOP);
    let x = |seconds: i64| Px(across.place(seconds as f64));
    let y = |nanos: u64| Px(up.place(nanos as f64));
    let dot =
        |round: &case::PastRound| (if round.interrupted { "part" } else { "dot" }, x(round.began_s), y(round.wall_ns));
    let mut levels = Vec::new();
    for (index, step) in history.steps.iter().enumerate() {
        let from = if index == 0 { first } else { history.steps[index - 1].at_s };
        levels.push((x(from), x(step.at_s), y(step.before_ns)));
        if index + 1 == history.steps.len() {
            levels.push((x(step.at_s), x(last), y(step.after_ns)));
        }
    }
    let labels = if size == Size::Wide { 6 } else { 2 };
    let mark = |turn: i64| {
        let seconds = first + (last - first) * turn / labels;
        // The year is known by those who look at their feeds.
        (x(seconds), moment(seconds).get(5..).unwrap_or_default().to_string())
    };
    Chart {
        size,
        left: Px(left),
        right: Px(right),
        top: Px(TOP),
        bottom: Px(BOTTOM),
        tall: Px(BOTTOM - TOP),
        up: up.marks(40.0).into_iter().map(|value| (Px(up.place(value)), Nanos(value as u64).to_string())).collect(),
        across: (0..labels).map(mark).collect(),
        dots: rounds.iter().map(dot).collect(),
        levels,
        maybe: history.steps.iter().map(|step| (x(step.low_s), Px(x(step.high_s).0 - x(step.low_s).0))).collect(),
        onsets: history.steps.iter().map(|step| x(step.at_s)).collect(),
    }
}
