//! Parts as HTML.

use super::{Names, Part, Table};
use crate::chart::Px;
use crate::grid::{Align, Row};
use crate::text::clean;
use askama::Template;

/// A bar is stretched to its cell, and has this much to either side.
const HALF: f64 = 100.0;

/// Parts below one another.
pub(crate) fn of(parts: &[Part]) -> String {
    parts.iter().filter(|part| !part.is_empty()).map(one).collect()
}

#[derive(Template)]
#[template(
    source = r#"{% match part %}{% when Part::Heading(text) %}<h3>{{ self::clean(text) }}</h3>
{% when Part::Paragraph(text) %}<p>{{ self::clean(text) }}</p>
{% when Part::Labelled(label, text) %}<p><strong>{{ label }}:</strong> {{ self::clean(text) }}</p>
{% when Part::List(items) %}<ul>{% for item in items %}<li>{{ self::clean(item) }}</li>
{% endfor %}</ul>
{% when Part::Command(text) %}<pre class="way-back"><code class="copyable">{{ self::lines(text) }}</code></pre>
{% when Part::Table(_) %}{% endmatch %}"#,
    ext = "html"
)]
struct Words<'p> {
    part: &'p Part,
}

/// Lines that are copied together, each harmless.
fn lines(text: &str) -> String {
    text.lines().map(clean).collect::<Vec<_>>().join("\n")
}

fn one(part: &Part) -> String {
    match part {
        Part::Table(table) => self::table(table),
        part => Words { part }.render().unwrap_or_default(),
    }
}

#[derive(Template)]
#[template(path = "table.html")]
struct Drawn {
    titles: Vec<(String, &'static str)>,
    is_code: bool,
    has_bars: bool,
    first: Vec<Line>,
    rest: Vec<Line>,
}

/// One row.
struct Line {
    name: String,
    class: &'static str,
    cells: Vec<(String, &'static str)>,
    bar: Option<Bar>,
    note: String,
}

/// A bar, to the left of the middle for less and to the right for more.
struct Bar {
    class: &'static str,
    x: Px,
    width: Px,
}

/// A table, in a box of its own that scrolls.
pub(crate) fn table(table: &Table) -> String {
    let class = |align: Align| if align == Align::Right { "figure" } else { "words" };
    let titles = table.columns.iter().map(|column| (clean(&column.title), class(column.align)));
    let line = |row: &Row| Line {
        name: clean(row.name.trim()),
        class: row.class,
        cells: table
            .columns
            .iter()
            .skip(1)
            .enumerate()
            .map(|(place, column)| (clean(row.cells.get(place).map_or("", String::as_str)), class(column.align)))
            .collect(),
        bar: row.bar.map(|(letter, share)| bar(letter, share)),
        note: clean(&row.note),
    };
    let mut first = table.rows.iter().map(line).collect::<Vec<_>>();
    let rest = first.split_off(first.len().min(table.most));
    let drawn = Drawn {
        titles: titles.collect(),
        is_code: table.names == Names::Code,
        has_bars: table.rows.iter().any(|row| row.bar.is_some()),
        first,
        rest,
    };
    drawn.render().unwrap_or_default()
}

fn bar(letter: &str, share: f64) -> Bar {
    let width = if share.is_finite() { share.clamp(0.0, 1.0) * HALF } else { 0.0 };
    match letter {
        "-" => Bar { class: "less", x: Px(HALF - width), width: Px(width) },
        _ => Bar { class: "more", x: Px(HALF), width: Px(width) },
    }
}
