//! What a recorded run of each stretch of values was found to suffer from, and what changes from one to the next.

use crate::block::{Block, Section};
use crate::command::typed;
use crate::document::Document;
use crate::escape::escape;
use crate::style::Style;
use crate::text::{clean, wrap};
use crate::value::{label, standing};
use askama::Template;
use case::{Cost, Finding, Nanos, Regime, Share, Sweep};

pub(crate) const BLOCK: Block = Block {
    text: Some(text),
    html: Some(|document| document.sweep().map_or(String::new(), html)),
    markdown: Some(|document| document.sweep().map_or(String::new(), markdown)),
    ..Block::of(Section::Sweep, |_| Vec::new())
};

/// A cost below this share is no cost to name.
const LEAST_SHARE: f64 = 0.005;
/// What is found below the first few costs less than they do.
const MOST_FINDINGS: usize = 5;

/// What stands over the stretches.
fn title(sweep: &Sweep) -> &'static str {
    let has_findings = sweep.regimes.iter().any(|regime| standing(regime).next().is_some());
    if has_findings { "What recordings show (suspicions, not tried)" } else { "What recordings show" }
}

/// The stretches, by value; empty where none was recorded.
fn text(document: &Document, style: Style) -> String {
    let Some(sweep) = document.sweep().filter(|sweep| !sweep.regimes.is_empty()) else { return String::new() };
    let mut text = format!("{}:\n", title(sweep));
    for stretch in stretches(sweep) {
        if !stretch.change.is_empty() {
            text += &wrap(&stretch.change, style.columns(), "  ", "  ");
        }
        text += &wrap(&format!("{}: {}", stretch.place, stretch.said()), style.columns(), "  ", "    ");
        if !stretch.case.is_empty() {
            let report = format!("whyslow report {}", stretch.case);
            text += &wrap(&report, style.columns(), "    More: ", "      ");
        }
    }
    text
}

/// A stretch of values of one kind, in words.
struct Stretch {
    /// What changes from the one before; empty for nothing.
    change: String,
    place: String,
    found: Vec<String>,
    summary: String,
    case: String,
    /// The command that draws its page.
    more: String,
}

impl Stretch {
    fn said(&self) -> String {
        if self.found.is_empty() { format!("no cause found. {}", self.summary) } else { self.found.join(" ") }
    }
}

fn stretches(sweep: &Sweep) -> Vec<Stretch> {
    let stretch = |(index, regime): (usize, &Regime)| {
        let before = index.checked_sub(1).and_then(|before| sweep.regimes.get(before));
        let is_found = |regime: &Regime| standing(regime).next().is_some();
        let changes = before.filter(|before| is_found(before) || is_found(regime));
        Stretch {
            change: changes.map_or(String::new(), |before| change(sweep, before, regime)),
            place: place(sweep, regime),
            found: standing(regime).take(MOST_FINDINGS).map(|finding| found(sweep, finding)).collect(),
            summary: clean(&regime.summary),
            case: clean(&regime.case),
            more: if regime.case.is_empty() { String::new() } else { page_of(&regime.case) },
        }
    };
    sweep.regimes.iter().enumerate().map(stretch).collect()
}

#[derive(Template)]
#[template(
    source = r#"<h3>{{ title }}</h3>
<ol class="regimes">
{% for regime in regimes %}<li>{% if !regime.change.is_empty() %}<p class="change">{{ regime.change }}</p>{% endif %}<p><b>{{ regime.place }}:</b> {{ regime.said() }}</p>
{% if !regime.more.is_empty() %}<p class="faint">All of this recording: <code class="copyable">{{ regime.more }}</code></p>{% endif %}</li>
{% endfor %}</ol>
"#,
    ext = "html"
)]
struct Drawn {
    title: &'static str,
    regimes: Vec<Stretch>,
}

fn html(sweep: &Sweep) -> String {
    let regimes = stretches(sweep);
    if regimes.is_empty() { String::new() } else { Drawn { title: title(sweep), regimes }.render().unwrap_or_default() }
}

fn markdown(sweep: &Sweep) -> String {
    let items = stretches(sweep).into_iter().flat_map(|stretch| {
        let change = (!stretch.change.is_empty()).then(|| format!("- {}\n", escape(&stretch.change)));
        let said = format!("- {}\n", escape(&format!("{}: {}", stretch.place, stretch.said())));
        change.into_iter().chain([said])
    });
    let items = items.collect::<String>();
    if items.is_empty() { items } else { format!("### {}\n\n{items}", title(sweep)) }
}

/// The command that draws the page of a stretch's recording: inside a sweep it has none of its own.
fn page_of(case: &str) -> String {
    let name = std::path::Path::new(case).file_name().map_or_else(|| "recording".into(), |name| name.to_string_lossy());
    format!("whyslow report {} --format html -o {}", typed(&[case.to_string()]), typed(&[format!("{name}.html")]))
}

fn place(sweep: &Sweep, regime: &Regime) -> String {
    let (from, to, at) = (label(sweep, regime.from), label(sweep, regime.to), label(sweep, regime.at));
    if from == to { from } else { format!("{from} to {to}, recorded at {at}") }
}

fn found(sweep: &Sweep, finding: &Finding) -> String {
    let title = clean(&finding.title);
    let end = if title.ends_with('.') { "" } else { "." };
    format!("{}, {}: {title}{end}", clean(&finding.name), costs(sweep, &finding.cost))
}

fn costs(sweep: &Sweep, cost: &Cost) -> String {
    let per = if sweep.metric.is_of_exchanges() { "per request" } else { "per run" };
    let is_processor = cost.share_of_cpu > cost.share_of_wall;
    if is_processor && cost.share_of_cpu >= LEAST_SHARE {
        let (time, share) = (Nanos(cost.cpu_ns_per_exchange), Share(cost.share_of_cpu));
        return format!("up to {time} of CPU time {per} ({share})");
    }
    if cost.share_of_wall < LEAST_SHARE {
        return "suspected".into();
    }
    format!("up to {} {per} ({})", Nanos(cost.ns_per_exchange), Share(cost.share_of_wall))
}

fn change(sweep: &Sweep, before: &Regime, after: &Regime) -> String {
    let only_in = |one: &Regime, other: &Regime| {
        let own = standing(one).filter(|finding| standing(other).all(|another| another.id != finding.id));
        own.map(|finding| clean(&finding.name)).collect::<Vec<_>>()
    };
    let (ends, begins) = (only_in(before, after), only_in(after, before));
    let place = format!("From {} to {}", label(sweep, before.to), label(sweep, after.from));
    match (ends.is_empty(), begins.is_empty()) {
        (true, true) => format!("{place}: the same findings on both sides."),
        (false, true) => format!("{place}: {} ends.", ends.join(" and ")),
        (true, false) => format!("{place}: {} begins.", begins.join(" and ")),
        (false, false) => format!("{place}: {} ends, {} begins.", ends.join(" and "), begins.join(" and ")),
    }
}
