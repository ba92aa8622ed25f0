//! Every metric as a dot with its interval on one axis of ratios, the middle of which is 1: no difference.

use super::super::chart::Px;
use crate::comparison::word;
use crate::figure::{noun, pair, range, three};
use askama::Template;
use case::{Compared, Contrast};

/// The axis reaches at least this far, so that a narrow interval looks narrow.
const LEAST_REACH: f64 = 1.25;
/// The drawing is stretched to its cell; its own measure is arbitrary.
const WIDTH: f64 = 200.0;

#[derive(Template)]
#[template(path = "page/compared/ratios.html")]
struct Ratios<'a> {
    a: &'a str,
    b: &'a str,
    rows: Vec<Row>,
    least: String,
    most: String,
}

struct Row {
    class: &'static str,
    name: String,
    a: String,
    b: String,
    ratio: String,
    interval: String,
    word: &'static str,
    pairs: u32,
    drawn: Option<(Px, Px, Px)>,
}

/// The table as HTML, both sides named as told; empty where nothing was measured.
pub(in crate::page) fn table(metrics: &[Compared], [a, b]: [&str; 2]) -> String {
    if metrics.is_empty() {
        return String::new();
    }
    let reach = reach(metrics);
    let rows = metrics.iter().map(|metric| row(metric, reach)).collect();
    let page = Ratios { a, b, rows, least: three(1.0 / reach), most: three(reach) };
    page.render().unwrap_or_default()
}

/// How far from 1 the farthest end of an interval is, as a factor.
fn reach(metrics: &[Compared]) -> f64 {
    let ends = metrics.iter().filter(|one| is_measured(one)).flat_map(|one| [one.low, one.ratio, one.high]);
    ends.map(|ratio| ratio.max(1.0 / ratio)).fold(LEAST_REACH, f64::max) * 1.05
}

fn is_measured(compared: &Compared) -> bool {
    let figures = [compared.low, compared.ratio, compared.high];
    compared.pairs > 0 && figures.iter().all(|figure| figure.is_finite() && *figure > 0.0)
}

fn row(compared: &Compared, reach: f64) -> Row {
    let noun = noun(&compared.metric);
    let name = noun.strip_prefix("the ").unwrap_or(&noun).to_string();
    if !is_measured(compared) {
        let blank = String::new;
        let word = "too few trials of both ended well";
        return Row {
            class: "open",
            name,
            a: blank(),
            b: blank(),
            ratio: blank(),
            interval: blank(),
            word,
            pairs: 0,
            drawn: None,
        };
    }
    let (a, b) = pair(&compared.metric, compared.a, compared.b);
    let place = |ratio: f64| Px(f64::midpoint(ratio.ln() / reach.ln(), 1.0) * WIDTH);
    Row {
        class: class(compared.outcome),
        name,
        a,
        b,
        ratio: three(compared.ratio),
        interval: range(compared.low, compared.high),
        word: word(compared.outcome),
        pairs: compared.pairs,
        drawn: Some((place(compared.low), place(compared.ratio), place(compared.high))),
    }
}

fn class(outcome: Contrast) -> &'static str {
    match outcome {
        Contrast::More => "more",
        Contrast::Less => "less",
        Contrast::Same => "alike",
        Contrast::Open => "open",
    }
}
