//! Requests over time: bars in the terminal, a chart on the page, each with the part of the largest suspect.

use super::words::{called, length, moment};
use crate::block::{Block, Section};
use crate::chart::{Figure, Plot, Px, Shape, Size};
use crate::document::Document;
use crate::grid::Row;
use crate::part::{Part, Table, under};
use crate::scale::Scale;
use crate::text::{capitalised, count};
use case::{Share, Traffic};

pub(crate) const BLOCK: Block = Block {
    html: Some(html),
    ..Block::of(Section::OverTime, |document| document.traffic().map(rows).unwrap_or_default())
};

/// Rows in the terminal: a day by the two hours, two weeks by the day.
const MOST_ROWS: i64 = 16;
/// What a row may stand for, in seconds.
const LENGTHS: [i64; 12] = [60, 300, 600, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400, 604_800, 2_419_200];
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 220.0;

/// Buckets put together until they fit; each row begins where a clock or a calendar would have it begin.
fn rows(traffic: &Traffic) -> Vec<Part> {
    let series = &traffic.series;
    let Some(last) = series.requests.len().checked_sub(1) else { return Vec::new() };
    let begins = |place: usize| series.start_s.saturating_add(series.bucket_s.saturating_mul(place as i64));
    let row_of = |length: i64, place: usize| begins(place).div_euclid(length);
    let fits = |length: &i64| {
        length % series.bucket_s.max(1) == 0 && row_of(*length, last).abs_diff(row_of(*length, 0)) < MOST_ROWS as u64
    };
    let Some(length_s) = LENGTHS.into_iter().find(fits) else { return Vec::new() };
    let suspect = series.of_suspects.first();
    let mut sums = vec![(0u64, 0u64); row_of(length_s, last).abs_diff(row_of(length_s, 0)) as usize + 1];
    for (place, requests) in series.requests.iter().enumerate() {
        let row = &mut sums[row_of(length_s, place).abs_diff(row_of(length_s, 0)) as usize];
        row.0 += requests;
        row.1 += suspect.and_then(|values| values.get(place)).copied().unwrap_or(0);
    }
    let most = sums.iter().map(|(all, _)| *all).max().unwrap_or(0).max(1);
    let row = |(place, (all, part)): (usize, &(u64, u64))| {
        let begins = moment((row_of(length_s, 0) + place as i64).saturating_mul(length_s));
        let share = if *part == 0 { String::new() } else { Share(*part as f64 / (*all).max(1) as f64).to_string() };
        Row::new(begins, [count(*all), share]).with_bar("#", *all as f64 / most as f64)
    };
    let of = traffic.suspects.first().map(|first| called(&first.name, first.claim)).unwrap_or_default();
    let rows = sums.iter().enumerate().map(row).collect();
    let heading = format!("Requests in each {} (UTC)", length(length_s));
    under(heading, [Part::Table(Table::of("from", ["requests", &of], rows))])
}

/// The looks of the suspects that are drawn.
const LOOKS: [&str; 3] = ["first", "second", "third"];

fn html(document: &Document) -> String {
    let Some(traffic) = document.traffic().filter(|traffic| !traffic.series.requests.is_empty()) else {
        return String::new();
    };
    let names = traffic.suspects.iter().zip(["orange", "violet", "green"]);
    let names = names.map(|(one, colour)| format!("{colour}: {}", called(&one.name, one.claim))).collect::<Vec<_>>();
    let parts = if names.is_empty() { String::new() } else { format!("; {}", names.join(", ")) };
    let has_onset = traffic.suspects.iter().any(|one| one.onset.is_some());
    let dashed = if has_onset { " Dashed vertical line: where it began or grew." } else { "" };
    let said = capitalised(&format!("requests in each {}", length(traffic.series.bucket_s)));
    let plots = Size::BOTH.map(|size| plot(traffic, size)).into();
    let caption = format!("{said}, UTC. Grey: all{parts}.{dashed}");
    Figure { class: "over-time", height: HEIGHT, said, caption, is_caption_first: false, plots }.html()
}

fn plot(traffic: &Traffic, size: Size) -> Plot {
    let series = &traffic.series;
    let (left, right) = (LEFT, size.width() - RIGHT);
    let buckets = series.requests.len();
    let across = Scale::linear(0.0, buckets as f64, left, right);
    let most = series.requests.iter().copied().max().unwrap_or(0).max(1) as f64;
    let up = Scale::linear(0.0, most, BOTTOM, TOP);
    let place = |seconds: i64| {
        let from_start = seconds.saturating_sub(series.start_s) as f64 / series.bucket_s.max(1) as f64;
        Px(across.place(from_start))
    };
    let suspects =
        series.of_suspects.iter().zip(LOOKS).map(|(values, class)| Shape::Path(class, area(values, &across, &up)));
    let onsets = traffic.suspects.iter().take(LOOKS.len()).filter_map(|one| one.onset.as_ref());
    let mut shapes = vec![Shape::Path("all", area(&series.requests, &across, &up))];
    shapes.extend(suspects);
    shapes.extend(onsets.map(|onset| Shape::Upright("onset", place(onset.at_s))));
    let labels = if size == Size::Wide { 6 } else { 2 };
    let mark = |turn: usize| {
        let bucket = buckets * turn / labels;
        let seconds = series.start_s.saturating_add(series.bucket_s.saturating_mul(bucket as i64));
        let text = moment(seconds);
        // The year is known by those who look at a log.
        (Px(across.place(bucket as f64)), text.get(5..).unwrap_or_default().to_string())
    };
    Plot {
        size,
        left: Px(left),
        right: Px(right),
        top: Px(TOP),
        bottom: Px(BOTTOM),
        up: up.marks(40.0).into_iter().map(|value| (Px(up.place(value)), count(value as u64))).collect(),
        across: (0..labels).map(mark).collect(),
        shapes,
    }
}

/// The outline of steps from the axis up to each value and back.
fn area(values: &[u64], across: &Scale, up: &Scale) -> String {
    let mut path = format!("M{} {}", Px(across.place(0.0)), Px(BOTTOM));
    for (place, value) in values.iter().enumerate() {
        path += &format!("V{}H{}", Px(up.place(*value as f64)), Px(across.place(place as f64 + 1.0)));
    }
    path + &format!("V{}Z", Px(BOTTOM))
}
