//! The functions that burn most of a difference by themselves, each with how it is called.

use crate::hot_spots::{TITLE, called, figures, title};
use askama::Template;
use case::HotSpot;

#[derive(Template)]
#[template(path = "page/hot_spots.html")]
struct HotSpots<'a> {
    title: &'a str,
    a: &'a str,
    b: &'a str,
    rows: Vec<Row>,
}

struct Row {
    name: String,
    called: String,
    figures: [String; 4],
}

/// The table as HTML, both sides named as told; empty for none.
pub(super) fn hot_spots(hot_spots: &[HotSpot], [a, b]: [&str; 2]) -> String {
    if hot_spots.is_empty() {
        return String::new();
    }
    let rows = hot_spots.iter().map(|one| Row { name: title(one), called: called(one), figures: figures(one) });
    HotSpots { title: TITLE, a, b, rows: rows.collect() }.render().unwrap_or_default()
}
