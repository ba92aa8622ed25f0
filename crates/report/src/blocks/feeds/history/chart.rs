//! The chart: a dot a round, the levels between steps, and where each step may be.

use crate::blocks::traffic::words::moment;
use crate::chart::{Figure, Plot, Px, Shape, Size};
use crate::document::Document;
use crate::scale::Scale;
use case::{FeedHistory, Nanos};

const HEIGHT: f64 = 260.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 220.0;

pub(super) fn html(document: &Document) -> String {
    let Some(history) = document.history().filter(|history| !history.rounds.is_empty()) else { return String::new() };
    let steps = if history.steps.is_empty() {
        ""
    } else {
        " Dashed vertical line: where it changed; shaded: its 95 % interval. Orange: the median before and since."
    };
    let hollow = if history.rounds.iter().any(|round| round.interrupted) {
        " Hollow: interrupted; only the last part was timed."
    } else {
        ""
    };
    let caption = format!("Time of each round, by when it began (UTC).{steps}{hollow}");
    let plots = Size::BOTH.map(|size| plot(history, size)).into();
    let said = "Time of each round".to_string();
    Figure { class: "rounds", height: HEIGHT, said, caption, is_caption_first: false, plots }.html()
}

fn plot(history: &FeedHistory, size: Size) -> Plot {
    let rounds = &history.rounds;
    let (left, right) = (LEFT, size.width() - RIGHT);
    let (first, last) = (rounds[0].began_s, rounds[rounds.len() - 1].began_s);
    let across = Scale::linear(first as f64, last as f64, left, right);
    let most = rounds.iter().map(|round| round.wall_ns).max().unwrap_or(1);
    let up = Scale::linear(0.0, most as f64, BOTTOM, TOP);
    let x = |seconds: i64| Px(across.place(seconds as f64));
    let y = |nanos: u64| Px(up.place(nanos as f64));
    let dot = |round: &case::PastRound| {
        Shape::Dot(if round.interrupted { "part" } else { "dot" }, x(round.began_s), y(round.wall_ns))
    };
    let level = |from: i64, to: i64, nanos: u64| Shape::Path("level", format!("M{} {}H{}", x(from), y(nanos), x(to)));
    let maybe = |step: &case::RoundStep| Shape::Band("maybe", x(step.low_s), Px(x(step.high_s).0 - x(step.low_s).0));
    let mut shapes = history.steps.iter().map(maybe).collect::<Vec<_>>();
    shapes.extend(rounds.iter().map(dot));
    for (index, step) in history.steps.iter().enumerate() {
        let from = if index == 0 { first } else { history.steps[index - 1].at_s };
        shapes.push(level(from, step.at_s, step.before_ns));
        if index + 1 == history.steps.len() {
            shapes.push(level(step.at_s, last, step.after_ns));
        }
    }
    shapes.extend(history.steps.iter().map(|step| Shape::Upright("onset", x(step.at_s))));
    // No two of them at one second.
    let labels = if size == Size::Wide { 6 } else { 2 }.min(last - first).max(1);
    let are_close = last - first < labels * 60;
    let mark = |turn: i64| {
        let seconds = first + (last - first) * turn / labels;
        // The year is known by those who look at their feeds; where minutes are the same, so is the day.
        let (day, minute) = (5, 11);
        let text = moment(seconds);
        let text = if are_close {
            format!("{}:{:02}", text.get(minute..).unwrap_or_default(), seconds % 60)
        } else {
            text.get(day..).unwrap_or_default().to_string()
        };
        (x(seconds), text)
    };
    Plot {
        size,
        left: Px(left),
        right: Px(right),
        top: Px(TOP),
        bottom: Px(BOTTOM),
        up: up.marks(40.0).into_iter().map(|value| (Px(up.place(value)), Nanos(value as u64).to_string())).collect(),
        across: (0..labels).map(mark).collect(),
        shapes,
    }
}
