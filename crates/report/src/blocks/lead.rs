//! What a document comes down to, in a few sentences: the first thing that is said, whatever the form.

mod answer;
mod bisection;
mod comparison;
mod heaviest;
mod matrix;
mod origin;
mod queue;
mod sweep;
mod tail;

pub use self::bisection::bisection_sentence;
pub use self::comparison::contrast_sentence;
pub(crate) use self::heaviest::in_brief;
pub use self::matrix::matrix_sentence;
pub use self::sweep::sweep_sentence;

use crate::block::{Block, Section};
use crate::blocks::findings::headline;
use crate::document::{Body, Document};
use crate::escape::escape;
use crate::style::Style;
use crate::text::{clean, wrap};
use askama::Template;

/// The first sentences.
pub(crate) const BLOCK: Block = Block {
    text: Some(text),
    html: Some(html),
    markdown: Some(markdown),
    ..Block::of(Section::Verdict, |_| Vec::new())
};

/// Where all of a run's time went: what is left of the summary where the first sentence was about a cause.
pub(crate) const WHOLE: Block = Block {
    text: Some(|document, style| {
        answer::whole(document).map_or(String::new(), |all| wrap(&all, style.columns(), "", ""))
    }),
    html: Some(|document| match document.answer().map(answer::where_to).filter(|whole| !whole.is_empty()) {
        Some(whole) => Whole { whole }.render().unwrap_or_default(),
        None => String::new(),
    }),
    // Markdown says it directly beneath the verdict.
    markdown: Some(|_| String::new()),
    ..Block::of(Section::Verdict, |_| Vec::new())
};

/// Fills in the sentence, where the diagnosis has not written one.
pub fn sum_up(document: &mut case::Document) {
    match document {
        case::Document::Answer(answer) => {
            for finding in &mut answer.findings {
                finding.title = headline(finding, answer.exchanges);
            }
        }
        case::Document::Comparison(comparison) => comparison.summary = contrast_sentence(comparison),
        case::Document::Sweep(sweep) => sweep.summary = sweep_sentence(sweep),
        case::Document::Bisection(bisection) => bisection.summary = bisection_sentence(bisection),
        case::Document::Matrix(matrix) => {
            let advice = std::mem::take(&mut matrix.summary);
            matrix.summary = matrix_sentence(matrix);
            // What to take stands in that sentence; what would be less bad where there is nothing to take does not.
            if matrix.advice.is_empty() && !advice.is_empty() {
                matrix.summary += &format!(" {advice}");
            }
        }
    }
}

/// The summary that is kept, or where there is none, what it would be.
fn sentences(document: &Document) -> String {
    let (kept, made): (&str, fn(&Document) -> Option<String>) = match document.body {
        Body::Answer(_) | Body::Measured(_) => {
            return String::new();
        }
        Body::Comparison(one) => (&one.summary, |document| document.comparison().map(contrast_sentence)),
        Body::Sweep(one) => (&one.summary, |document| document.sweep().map(sweep_sentence)),
        Body::Bisection(one) => (&one.summary, |document| document.bisection().map(bisection_sentence)),
        Body::Matrix(one) => (&one.summary, |document| document.matrix().map(matrix_sentence)),
    };
    if kept.is_empty() { made(document).unwrap_or_default() } else { clean(kept) }
}

fn text(document: &Document, style: Style) -> String {
    if let Some(answer) = document.answer() {
        return answer::text(answer, style);
    }
    let lines = wrap(&sentences(document), style.columns(), "", "");
    lines.lines().map(|line| style.bold(line) + "\n").collect()
}

#[derive(Template)]
#[template(source = "<p class=\"lead\">{{ lead }}</p>\n", ext = "html")]
struct Lead {
    lead: String,
}

#[derive(Template)]
#[template(
    source = "<p><strong>Overall.</strong> {{ whole }} <a href=\"#ledger\">Where the time went</a></p>\n",
    ext = "html"
)]
struct Whole {
    whole: String,
}

fn html(document: &Document) -> String {
    let lead = document.answer().map_or_else(|| sentences(document), answer::lead);
    if lead.is_empty() { lead } else { Lead { lead }.render().unwrap_or_default() }
}

fn markdown(document: &Document) -> String {
    match document.answer() {
        Some(answer) => answer::markdown(answer),
        None => format!("**{}**\n", escape(&sentences(document))),
    }
}
