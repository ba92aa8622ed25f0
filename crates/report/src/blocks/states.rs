//! What became of every version: built or not, what was loaded, and of a failed build the last lines and its log.

use crate::block::{Block, Section};
use crate::document::Document;
use crate::escape::{code, escape};
use crate::style::Style;
use crate::text::{clean, shorten, wrap};
use askama::Template;
use case::{Nanos, Version, VersionState};

pub(crate) const BLOCK: Block = Block {
    text: Some(text),
    html: Some(html),
    markdown: Some(markdown),
    ..Block::of(Section::Matrix, |_| Vec::new())
};

/// Lines of a failed build that are shown.
const MOST_LINES: usize = 8;

fn versions<'m>(document: &Document<'m>) -> &'m [Version] {
    document.matrix().map_or(&[], |matrix| &matrix.versions)
}

/// A paragraph a version.
fn text(document: &Document, style: Style) -> String {
    let versions = versions(document).iter().map(|version| one(version, style)).collect::<String>();
    if versions.is_empty() { versions } else { format!("Versions:\n{versions}") }
}

fn one(version: &Version, style: Style) -> String {
    let head = format!("{}: {}", clean(&version.version), said(version));
    let mut text = wrap(&head, style.columns(), "  ", "    ");
    for path in &version.mapped {
        text += &format!("    loaded {}\n", clean(path));
    }
    for line in last_lines(version) {
        text += &format!("    | {}\n", shorten(&line, style.columns() - 6));
    }
    if !version.log.is_empty() {
        text += &format!("    log {}\n", clean(&version.log));
    }
    text
}

/// The state in words, with what else there is to say.
fn said(version: &Version) -> String {
    let details = details(version);
    let comma = if details.is_empty() { "" } else { ", " };
    format!("{}{comma}{details}.", word(version.state))
}

/// What there is to say beside the state; empty for nothing.
fn details(version: &Version) -> String {
    let built = if version.built_ns > 0 { format!("built in {}", Nanos(version.built_ns)) } else { String::new() };
    let sonames = version.sonames.iter().map(|name| clean(name));
    let problem = clean(&version.problem).trim_end_matches('.').to_string();
    let parts = [built].into_iter().chain(sonames).chain([problem]).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(", ")
}

/// A state in a word or two.
fn word(state: VersionState) -> &'static str {
    match state {
        VersionState::Measured => "measured",
        VersionState::NotFetched => "not fetched",
        VersionState::NotBuilt => "not built",
        VersionState::NotLoaded => "not loaded",
    }
}

/// The last lines of a failed build.
fn last_lines(version: &Version) -> Vec<String> {
    let from = version.last_lines.len().saturating_sub(MOST_LINES);
    version.last_lines[from..].iter().map(|line| clean(line)).collect()
}

#[derive(Template)]
#[template(
    source = r#"<h3>What became of every version</h3>
<dl class="versions">
{% for state in states %}<dt>{{ state.name }} <span class="badge {{ state.badge }}">{{ state.word }}</span></dt>
<dd>{{ state.details }}{% for path in state.mapped %}<code class="copyable">{{ path }}</code>{% endfor %}{% if !state.last_lines.is_empty() %}<pre>{% for line in state.last_lines %}{{ line }}
{% endfor %}</pre>{% endif %}{% if !state.log.is_empty() %}<span class="faint">Log:</span> <code class="copyable">{{ state.log }}</code>{% endif %}</dd>
{% endfor %}</dl>
"#,
    ext = "html"
)]
struct States {
    states: Vec<State>,
}

/// What became of a version.
struct State {
    name: String,
    badge: &'static str,
    word: &'static str,
    details: String,
    mapped: Vec<String>,
    last_lines: Vec<String>,
    log: String,
}

fn html(document: &Document) -> String {
    let states = versions(document).iter().map(state).collect::<Vec<_>>();
    if states.is_empty() { String::new() } else { States { states }.render().unwrap_or_default() }
}

fn state(version: &Version) -> State {
    State {
        name: clean(&version.version),
        badge: match version.state {
            VersionState::Measured => "none",
            VersionState::NotFetched | VersionState::NotBuilt | VersionState::NotLoaded => "warn",
        },
        word: word(version.state),
        details: details(version),
        mapped: version.mapped.iter().map(|path| clean(path)).collect(),
        last_lines: last_lines(version),
        log: clean(&version.log),
    }
}

fn markdown(document: &Document) -> String {
    let versions = versions(document).iter().map(item).collect::<String>();
    if versions.is_empty() { versions } else { format!("### What became of every version\n\n{versions}") }
}

fn item(version: &Version) -> String {
    let mut text = format!("- **{}**: {}", escape(&version.version), escape(&said(version)));
    if !version.mapped.is_empty() {
        text += &format!(" Loaded {}.", escape(&version.mapped.join(", ")));
    }
    if !version.log.is_empty() {
        text += &format!(" Log: {}.", escape(&version.log));
    }
    text += "\n";
    for line in last_lines(version) {
        text += &format!("  - {}\n", code::span(&line));
    }
    text
}
