//! The largest thing that was measured, as two bars drawn to scale: without and with what was switched off, or A and B.

use crate::block::{Block, Section};
use crate::document::Body;
use crate::figure::{clause, factor, noun, pair};
use crate::label::names;
use crate::text::{clean, counted};
use askama::Template;
use case::{Answer, Bisection, Comparison, Contrast, Effect, Metric, Status, Together};

pub(crate) const BLOCK: Block = Block::drawn(Section::Verdict, |document| {
    let gain = match document.body {
        Body::Answer(answer) => of_answer(answer),
        Body::Comparison(comparison) => of_comparison(comparison),
        Body::Bisection(bisection) => of_bisection(bisection),
        Body::Sweep(_) | Body::Matrix(_) | Body::Measured(_) => None,
    };
    gain.and_then(|gain| gain.render().ok()).unwrap_or_default()
});

/// Two figures drawn as bars.
#[derive(Template)]
#[template(
    source = r#"<figure class="gain" aria-label="{{ said }}">
<div class="gain-bars">
{% for bar in bars %}<div class="gain-name">{{ bar.name }}</div>
<div class="gain-track"><span class="gain-bar {{ bar.class }}" style="width:{{ bar.percent }}%"></span></div>
<div class="gain-figure">{{ bar.figure }}</div>
{% endfor %}
</div>
<figcaption><strong class="gain-factor">{{ factor }}</strong> ({{ interval }}). Bars show {{ measured }}, to scale.</figcaption>
</figure>
"#,
    ext = "html"
)]
struct Gain {
    /// What was measured: `time per request`.
    measured: String,
    /// Both bars.
    bars: Vec<Bar>,
    /// The ratio in words: `210 times less`.
    factor: String,
    /// Its interval, and what it rests on.
    interval: String,
    /// All of it in a sentence, for those who do not see it.
    said: String,
}

/// One bar.
struct Bar {
    /// What it is of.
    name: String,
    /// Its figure.
    figure: String,
    /// How long it is, in percent of the longer.
    percent: String,
    /// `slow` or `fast`.
    class: &'static str,
}

/// The most that was proved: with all that was tried together, else with what the top confirmed finding was proved by.
fn of_answer(answer: &Answer) -> Option<Gain> {
    let confirmed = answer.findings.iter().find(|finding| finding.status == Status::Confirmed)?;
    let joint = answer.together.iter().rfind(|one| one.applied && one.ratio > 0.0);
    joint.map(of_together).or_else(|| confirmed.effect.as_ref().map(|effect| of_effect(effect, answer)))
}

fn of_together(one: &Together) -> Gain {
    let name = one.interventions.iter().map(|name| clean(name)).collect::<Vec<_>>().join(" + ");
    let rests = counted(one.trials.into(), "trial");
    gain(&one.metric, (one.before, one.after), (one.ratio, one.low, one.high), &name, &rests)
}

fn of_effect(effect: &Effect, answer: &Answer) -> Gain {
    let is_live = answer.live.iter().any(|one| one.intervention == effect.intervention);
    let rests = counted(effect.trials.into(), if is_live { "window" } else { "trial" });
    let ratio = (effect.ratio, effect.low, effect.high);
    gain(&effect.metric, (effect.before, effect.after), ratio, &clean(&effect.intervention), &rests)
}

fn gain(
    metric: &Metric,
    (before, after): (f64, f64),
    (ratio, low, high): (f64, f64, f64),
    name: &str,
    rests: &str,
) -> Gain {
    let (factor, interval) = factor(metric, ratio, low, high);
    let figures = pair(metric, before, after);
    let most = before.max(after);
    let bar =
        |name: String, figure: String, value: f64, class| Bar { name, figure, percent: percent(value, most), class };
    Gain {
        measured: noun(metric),
        bars: vec![
            bar("as it is".into(), figures.0, before, "slow"),
            bar(format!("with {name}"), figures.1, after, "fast"),
        ],
        said: format!("With {name} {}: {factor}.", clause(metric, before, after)),
        factor,
        interval: format!("95 % interval {interval}, {rests}"),
    }
}

/// What decides a comparison, where it was measured.
fn of_comparison(comparison: &Comparison) -> Option<Gain> {
    let first = comparison.metrics.first().filter(|first| first.pairs > 0 && first.ratio > 0.0)?;
    let (a, b) = pair(&first.metric, first.a, first.b);
    let most = first.a.max(first.b);
    let classes = match first.outcome {
        Contrast::More => ("fast", "slow"),
        Contrast::Less => ("slow", "fast"),
        Contrast::Same | Contrast::Open => ("", ""),
    };
    let bar = |name: &str, figure: String, value: f64, class| Bar {
        name: name.into(),
        figure,
        percent: percent(value, most),
        class,
    };
    let interval = turned(first);
    Some(Gain {
        measured: noun(&first.metric),
        said: format!("{}: A {a}, B {b}.", noun(&first.metric)),
        bars: vec![bar("A", a, first.a, classes.0), bar("B", b, first.b, classes.1)],
        factor: against("B", "A", first.ratio),
        interval: format!("95 % interval {interval}, {}", counted(first.pairs.into(), "pair")),
    })
}

/// Both worlds, and between them the bad one with what cures it alone; none where they were not measured or do not differ.
fn of_bisection(bisection: &Bisection) -> Option<Gain> {
    let first = bisection.baseline.first().filter(|first| first.pairs > 0 && first.ratio > 0.0)?;
    let culprit = bisection.culprit.as_ref();
    let cured = culprit.filter(|culprit| culprit.gain.pairs > 0 && culprit.gain.metric == first.metric);
    let (good, bad) = pair(&first.metric, first.a, first.b);
    let most = first.a.max(first.b);
    let bar =
        |name: String, figure: String, value: f64, class| Bar { name, figure, percent: percent(value, most), class };
    let mut bars = vec![bar(clean(&bisection.bad.name), bad.clone(), first.b, "slow")];
    if let Some(culprit) = cured {
        let name = format!("{} with the good {}", clean(&bisection.bad.name), names(&culprit.cure));
        let figure = pair(&first.metric, culprit.gain.a, first.b).0;
        bars.push(bar(name, figure, culprit.gain.a, "fast"));
    }
    bars.push(bar(clean(&bisection.good.name), good.clone(), first.a, if cured.is_some() { "" } else { "fast" }));
    if !matches!(first.outcome, Contrast::More | Contrast::Less) {
        for bar in &mut bars {
            bar.class = "";
        }
    }
    Some(Gain {
        measured: noun(&first.metric),
        said: format!("{}: bad {bad}, good {good}.", noun(&first.metric)),
        bars,
        factor: against("bad", "good", first.ratio),
        interval: format!("95 % interval {}, {}", turned(first), counted(first.pairs.into(), "pair")),
    })
}

/// `B is 5.22 times as high as A`, the larger one first.
fn against(one: &str, other: &str, ratio: f64) -> String {
    if ratio >= 1.0 {
        format!("{one} is {} times as high as {other}", crate::figure::three(ratio))
    } else {
        format!("{other} is {} times as high as {one}", crate::figure::three(1.0 / ratio))
    }
}

/// The interval of the same ratio.
fn turned(first: &case::Compared) -> String {
    if first.ratio >= 1.0 {
        crate::figure::range(first.low, first.high)
    } else {
        crate::figure::range(1.0 / first.high, 1.0 / first.low)
    }
}

/// A share of the longer bar; what is there at all can be seen.
fn percent(value: f64, most: f64) -> String {
    let share = if most > 0.0 { (value / most * 100.0).clamp(0.15, 100.0) } else { 0.0 };
    format!("{share:.2}")
}
