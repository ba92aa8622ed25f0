//! A cause that was switched off and on in a running program, as steps over time.

use crate::live::{Unit, ending, head, stretches};
use case::{Answer, Switched};

/// How high the steps are drawn, in pixels.
const HEIGHT: f64 = 120.0;
/// Room above the highest step.
const TOP: f64 = 18.0;

/// One switch in a running program.
pub(super) struct SwitchedView {
    /// What was switched, for what, and the unit.
    pub head: String,
    /// How it ended.
    pub ending: String,
    /// Whether everything was set back.
    pub reverted: bool,
    /// Every window as a step.
    pub steps: Vec<Step>,
    /// Windows between two switches, in words.
    pub stretches: Vec<StretchView>,
    /// All of it in words.
    pub said: String,
}

/// One window, drawn.
pub(super) struct Step {
    /// Its left end, in percent.
    pub x: String,
    /// Its width, in percent.
    pub width: String,
    /// Its top, in pixels.
    pub y: String,
    /// Its height, in pixels.
    pub height: String,
    /// `on` or `off`.
    pub class: &'static str,
}

/// A stretch between two switches.
pub(super) struct StretchView {
    /// Its middle, in percent.
    pub x: String,
    /// `before`, `on`, `off` or `after`.
    pub word: &'static str,
    /// What was measured over all of it.
    pub figure: String,
}

/// The drawing of one switch.
pub(super) fn view(one: &Switched, answer: &Answer) -> SwitchedView {
    let unit = Unit::of(one);
    let total = one.windows.iter().map(|window| window.wall_ns as f64).sum::<f64>().max(1.0);
    let rate = |index: usize| one.windows.get(index..=index).map_or(f64::NAN, |window| unit.rate(window));
    let rates = (0..one.windows.len()).map(rate).map(|rate| if rate.is_finite() { rate } else { 0.0 });
    let rates = rates.collect::<Vec<_>>();
    let most = rates.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let mut passed = 0.0;
    let steps = one.windows.iter().zip(&rates).map(|(window, rate)| {
        let height = rate / most * (HEIGHT - TOP);
        let x = passed;
        passed += window.wall_ns as f64;
        Step {
            x: share(x / total),
            width: share(window.wall_ns as f64 / total),
            y: format!("{:.1}", HEIGHT - height),
            height: format!("{height:.1}"),
            class: if window.on { "on" } else { "off" },
        }
    });
    let steps = steps.collect();
    let mut passed = 0.0;
    let views = stretches(&one.windows).into_iter().map(|stretch| {
        let length = stretch.windows.iter().map(|window| window.wall_ns as f64).sum::<f64>();
        let x = share((passed + length / 2.0) / total);
        passed += length;
        StretchView { x, word: stretch.word, figure: unit.shown(unit.rate(stretch.windows)) }
    });
    let stretches = views.collect::<Vec<_>>();
    let said = stretches.iter().map(|stretch| format!("{} {}", stretch.word, stretch.figure));
    SwitchedView {
        head: head(one, answer, unit),
        ending: ending(one, answer),
        reverted: one.reverted,
        said: said.collect::<Vec<_>>().join(", "),
        steps,
        stretches,
    }
}

fn share(share: f64) -> String {
    format!("{:.3}", share * 100.0)
}
