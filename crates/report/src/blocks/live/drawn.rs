//! A cause that was switched off and on in a running program, as steps over time.

use super::{Unit, ending, head, stretches};
use askama::Template;
use case::{Answer, Switched};

/// How high the steps are drawn, in pixels.
const HEIGHT: f64 = 120.0;
/// Room above the highest step.
const TOP: f64 = 18.0;

#[derive(Template)]
#[template(
    source = r#"{% for one in switched %}<figure class="switched">
<h3>Switched in the running program: {{ one.head }}</h3>
{% if !one.steps.is_empty() %}
<svg class="steps" width="100%" height="160" role="img" aria-label="{{ one.said }}">
{% for step in one.steps %}<rect class="{{ step.class }}" x="{{ step.x }}%" width="{{ step.width }}%" y="{{ step.y }}" height="{{ step.height }}"/>
{% endfor %}
<line x1="0" x2="100%" y1="120" y2="120"/>
{% for stretch in one.stretches %}<text x="{{ stretch.x }}%" y="136" text-anchor="middle">{{ stretch.word }}</text><text class="figure" x="{{ stretch.x }}%" y="153" text-anchor="middle">{{ stretch.figure }}</text>
{% endfor %}
</svg>
{% endif %}
<figcaption>{% if !one.reverted %}<span class="badge bad">not reverted</span> {% endif %}{{ one.ending }}</figcaption>
</figure>
{% endfor %}"#,
    ext = "html"
)]
struct Drawn {
    switched: Vec<SwitchedView>,
}

/// Every switch as HTML; empty for none.
pub(super) fn html<'s>(switched: impl Iterator<Item = &'s Switched>, answer: &Answer) -> String {
    Drawn { switched: switched.map(|one| view(one, answer)).collect() }.render().unwrap_or_default()
}

/// One switch in a running program.
struct SwitchedView {
    /// What was switched, for what, and the unit.
    head: String,
    /// How it ended.
    ending: String,
    /// Whether everything was set back.
    reverted: bool,
    /// Every window as a step.
    steps: Vec<WindowStep>,
    /// Windows between two switches, in words.
    stretches: Vec<StretchView>,
    /// All of it in words.
    said: String,
}

/// One window, drawn.
struct WindowStep {
    /// Its left end, in percent.
    x: String,
    /// Its width, in percent.
    width: String,
    /// Its top, in pixels.
    y: String,
    /// Its height, in pixels.
    height: String,
    /// `on` or `off`.
    class: &'static str,
}

/// A stretch between two switches.
struct StretchView {
    /// Its middle, in percent.
    x: String,
    /// `before`, `on`, `off` or `after`.
    word: &'static str,
    /// What was measured over all of it.
    figure: String,
}

/// The drawing of one switch.
fn view(one: &Switched, answer: &Answer) -> SwitchedView {
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
        WindowStep {
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
