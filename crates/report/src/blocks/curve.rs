//! The curve of a sweep: letters in the terminal; on the page a picture with its cliffs, its stretches of one kind, its
//! knee and how it grows. Values that are names are bars.

mod chart;
mod fitted;
mod plot;

use crate::block::{Block, Section};
use crate::blocks::points::figure;
use crate::document::Document;
use crate::figure::noun;
use crate::text::{capitalised, clean};
use crate::value::{heading, is_categorical, is_sound, name, sound};
use askama::Template;
use case::{Point, Sweep};

pub(crate) const BLOCK: Block = Block {
    text: Some(|document, style| document.sweep().map_or(String::new(), |sweep| plot::plot(sweep, style))),
    html: Some(html),
    ..Block::of(Section::Sweep, |_| Vec::new())
};

#[derive(Template)]
#[template(
    source = r#"<p>{{ lead }}</p>
{{ chart|safe }}{% if !bars.is_empty() %}<div class="scroll"><table class="names">
<tbody>
{% for bar in bars %}<tr><th scope="row">{{ bar.name }}</th><td class="picture"><svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect x="0" y="0" width="{{ bar.share|fmt("{:.1}") }}" height="10"/></svg></td><td class="number">{{ bar.figure }}</td><td>{{ bar.problem }}</td></tr>
{% endfor %}</tbody></table></div>
{% endif %}"#,
    ext = "html"
)]
struct Drawn {
    lead: String,
    chart: String,
    bars: Vec<Bar>,
}

/// A value that is a name, as a bar.
struct Bar {
    name: String,
    figure: String,
    share: f64,
    problem: String,
}

fn html(document: &Document) -> String {
    let Some(sweep) = document.sweep() else { return String::new() };
    let is_categorical = is_categorical(sweep);
    let drawn = Drawn {
        lead: lead(sweep),
        chart: if is_categorical { String::new() } else { chart::chart(sweep) },
        bars: if is_categorical { bars(sweep) } else { Vec::new() },
    };
    drawn.render().unwrap_or_default()
}

/// What is drawn, in a sentence.
fn lead(sweep: &Sweep) -> String {
    let values = sound(sweep).count();
    if values == 0 {
        return "No value had a sound trial, so there is no curve.".into();
    }
    let what = capitalised(&noun(&sweep.metric));
    let of = if values == 1 { "one value".to_string() } else { format!("{values} values") };
    format!("{what} at {of} of {}, each with its 95 % interval.", heading(sweep))
}

/// Names have no order and no distance: a bar each.
fn bars(sweep: &Sweep) -> Vec<Bar> {
    let most = sound(sweep).map(|point| point.measured).fold(0.0, f64::max);
    let bar = |point: &Point| Bar {
        name: name(point),
        figure: if is_sound(point) { figure(sweep, point) } else { "no sound trial".into() },
        share: if is_sound(point) && most > 0.0 { (point.measured / most * 100.0).clamp(0.0, 100.0) } else { 0.0 },
        problem: clean(&point.problem),
    };
    sweep.points.iter().map(bar).collect()
}
