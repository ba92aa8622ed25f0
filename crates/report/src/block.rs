//! A block: one thing that a document shows, with its text for a terminal, its HTML for the page and its Markdown in
//! one place. A block that is sentences, lists and tables describes them once as [`Part`]s; what is drawn by hand in one
//! of the three forms says so for that form.

use crate::document::Document;
use crate::part::{self, Part};
use crate::style::Style;

/// One thing that a document shows. A form in which it has nothing to show is empty.
pub(crate) struct Block {
    /// The section of the page that it stands in.
    pub section: Section,
    /// What it says, for all forms that are not drawn by hand.
    pub parts: fn(&Document) -> Vec<Part>,
    /// The terminal's text, by hand.
    pub text: Option<fn(&Document, Style) -> String>,
    /// The page's HTML, by hand.
    pub html: Option<fn(&Document) -> String>,
    /// The Markdown, by hand.
    pub markdown: Option<fn(&Document) -> String>,
}

impl Block {
    /// A block that is described once for all forms.
    pub(crate) const fn of(section: Section, parts: fn(&Document) -> Vec<Part>) -> Block {
        Block { section, parts, text: None, html: None, markdown: None }
    }

    /// A block that only the page draws.
    pub(crate) const fn drawn(section: Section, html: fn(&Document) -> String) -> Block {
        Block { html: Some(html), ..Block::of(section, |_| Vec::new()) }
    }

    /// Its text; empty, or ended by a line break.
    pub(crate) fn text(&self, document: &Document, style: Style) -> String {
        match self.text {
            Some(by_hand) => by_hand(document, style),
            None => part::text::of(&(self.parts)(document), style),
        }
    }

    /// Its HTML.
    pub(crate) fn html(&self, document: &Document) -> String {
        match self.html {
            Some(by_hand) => by_hand(document),
            None => part::html::of(&(self.parts)(document)),
        }
    }

    /// Its Markdown; empty, or ended by a line break.
    pub(crate) fn markdown(&self, document: &Document) -> String {
        match self.markdown {
            Some(by_hand) => by_hand(document),
            None => part::markdown::of(&(self.parts)(document)),
        }
    }
}

/// A section of the page, in the page's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    Verdict,
    Proof,
    Compared,
    Sweep,
    Bisection,
    Matrix,
    Round,
    OverTime,
    Asked,
    Services,
    Ledger,
    Ladder,
    Flame,
    Lengths,
    Connections,
    Calls,
    Evidence,
    Environment,
}

impl Section {
    /// All of them, top to bottom.
    pub(crate) const ALL: &[Section] = &[
        Section::Verdict,
        Section::Proof,
        Section::Compared,
        Section::Sweep,
        Section::Bisection,
        Section::Matrix,
        Section::Round,
        Section::OverTime,
        Section::Asked,
        Section::Services,
        Section::Ledger,
        Section::Ladder,
        Section::Flame,
        Section::Lengths,
        Section::Connections,
        Section::Calls,
        Section::Evidence,
        Section::Environment,
    ];

    /// Its anchor, its heading, and its name in the navigation, which has room for a word.
    pub(crate) fn names(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Section::Verdict => ("verdict", "Verdict", "Verdict"),
            Section::Proof => ("proof", "Proof: switched off and measured again", "Proof"),
            Section::Compared => ("compared", "A against B", "A against B"),
            Section::Sweep => ("sweep", "The curve", "Curve"),
            Section::Bisection => ("bisection", "From bad to good: what was switched", "Bisection"),
            Section::Matrix => ("matrix", "Version by version", "Versions"),
            Section::Round => ("round", "What the round did", "Round"),
            Section::OverTime => ("over-time", "Requests over time", "Time"),
            Section::Asked => ("asked", "Who asked for what", "Who"),
            Section::Services => ("services", "Services over time", "Services"),
            Section::Ledger => ("ledger", "Where the time went", "Time"),
            Section::Ladder => ("ladder", "One request, step by step", "One request"),
            Section::Flame => ("flame", "Where threads were on CPU, and where blocked", "Threads"),
            Section::Lengths => ("lengths", "How long requests took", "Latency"),
            Section::Connections => ("connections", "Connections", "Connections"),
            Section::Calls => ("calls", "System calls", "Calls"),
            Section::Evidence => ("evidence", "Evidence behind the findings", "Evidence"),
            Section::Environment => ("environment", "Environment, losses, and what was not looked for", "Environment"),
        }
    }
}
