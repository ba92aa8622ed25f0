//! The power law that was fitted, as a line to be drawn, and the lines of its interval's ends.

use crate::chart::Px;
use crate::scale::Scale;
use crate::value::sound;
use case::{Growth, Sweep};

/// A curve on axes that are not both logarithmic is drawn in so many steps.
const STEPS: usize = 48;

/// The fitted line and the area between the ends of its exponent's interval, as paths.
pub(super) struct Fitted {
    /// The line.
    pub line: String,
    /// The area; empty where the interval is unknown.
    pub area: String,
}

/// The line through the middle of the upper half of the points that the exponent rests on; none where there are none.
pub(super) fn fitted(sweep: &Sweep, across: &Scale, up: &Scale) -> Option<Fitted> {
    let growth = sweep.growth.as_ref()?;
    let of = sound(sweep).filter(|point| point.value > 0.0 && point.value >= growth.from && point.value <= growth.to);
    let mut logs = of.map(|point| (point.value.ln(), point.measured.ln())).collect::<Vec<_>>();
    // The exponent is that of the upper end, where what it costs anyway no longer counts: the line goes through there.
    logs.drain(..logs.len() / 2);
    if logs.is_empty() || !growth.exponent.is_finite() {
        return None;
    }
    let middle = |part: fn(&(f64, f64)) -> f64| logs.iter().map(part).sum::<f64>() / logs.len() as f64;
    let (x, y) = (middle(|point| point.0), middle(|point| point.1));
    let curve = |exponent: f64| {
        let level = move |value: f64| (y + exponent * (value.ln() - x)).exp();
        values(growth).map(move |value| (Px(across.place(value)), Px(up.place(level(value))))).collect::<Vec<_>>()
    };
    let line = path(&curve(growth.exponent));
    if !(growth.low.is_finite() && growth.high.is_finite()) {
        return Some(Fitted { line, area: String::new() });
    }
    let mut around = curve(growth.low);
    around.extend(curve(growth.high).into_iter().rev());
    Some(Fitted { line, area: path(&around) + "Z" })
}

/// Values from one end to the other, by equal factors.
fn values(growth: &Growth) -> impl Iterator<Item = f64> {
    let (from, to) = (growth.from.max(f64::MIN_POSITIVE), growth.to.max(f64::MIN_POSITIVE));
    (0..=STEPS).map(move |step| from * (to / from).powf(step as f64 / STEPS as f64))
}

fn path(points: &[(Px, Px)]) -> String {
    let joined = points.iter().map(|(x, y)| format!("{x} {y}")).collect::<Vec<_>>().join("L");
    format!("M{joined}")
}
