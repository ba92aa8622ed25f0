//! Documents of studies on their way out: summed up in a sentence, kept in their case with a page, printed.

use crate::fail::{self, Failure};
use crate::output;
use crate::progress::Progress;
use case::Case;
use case::views::PageViews;
use report::{Body, Outcome};
use studies::{Document, Done, PAGE, StudyError};

/// Sums up what a study has found, draws its page, and keeps both in its case. What failed on the way, with the first error
/// of all: the document stands without it.
pub fn keep(done: Done) -> (Document, Option<Failure>) {
    let Done { mut document, case, views, failed, inside, .. } = done;
    let inside = inside.into_iter().filter_map(|one| keep(one).1).collect::<Vec<_>>();
    sum_up(&mut document);
    *document.page() = keep_page(&document, &case, views);
    let kept = document.keep(&case).err().map(Failure::from);
    let failed = inside.into_iter().chain(failed.map(Failure::from)).chain(kept).next();
    (document, failed)
}

/// Fills in the sentence, where the diagnosis has not written one.
fn sum_up(document: &mut Document) {
    match document {
        Document::Answer(_) => {}
        Document::Comparison(comparison) => comparison.summary = report::contrast_sentence(comparison),
        Document::Sweep(sweep) => sweep.summary = report::sweep_sentence(sweep),
        Document::Bisection(bisection) => bisection.summary = report::bisection_sentence(bisection),
        Document::Matrix(matrix) => {
            let advice = std::mem::take(&mut matrix.summary);
            matrix.summary = report::matrix_sentence(matrix);
            // What to take stands in that sentence; what would be less bad where there is nothing to take does not.
            if matrix.advice.is_empty() && !advice.is_empty() {
                matrix.summary += &format!(" {advice}");
            }
        }
    }
}

/// Prints a document, and says how it comes out: the exit code.
pub fn show(document: &Document, as_json: bool) -> Result<u8, Failure> {
    let text = if as_json { output::json(document)? } else { text(document, &output::style()) };
    output::print(&text)?;
    Ok(code_of(&outcome(document)))
}

/// A document in words.
pub fn text(document: &Document, style: &report::Style) -> String {
    report::text(&report::Document::of(body(document)), style)
}

fn outcome(document: &Document) -> Outcome {
    match document {
        Document::Answer(answer) => report::outcome(answer),
        Document::Comparison(comparison) => report::comparison_outcome(comparison),
        Document::Sweep(sweep) => report::sweep_outcome(sweep),
        Document::Bisection(bisection) => report::bisection_outcome(bisection),
        Document::Matrix(matrix) => report::matrix_outcome(matrix),
    }
}

/// 0 nothing found, 1 findings, 3 inconclusive; 2 is for errors.
fn code_of(outcome: &Outcome) -> u8 {
    match outcome {
        Outcome::Nothing => 0,
        Outcome::Findings => 1,
        Outcome::Inconclusive(_) => fail::INCONCLUSIVE,
    }
}

/// The page of a document.
pub fn page(document: &Document, views: PageViews) -> String {
    report::page(&report::Document::of(body(document)).with(views))
}

/// What a document shows.
pub fn body(document: &Document) -> Body<'_> {
    match document {
        Document::Answer(answer) => Body::Answer(answer),
        Document::Comparison(comparison) => Body::Comparison(comparison),
        Document::Sweep(sweep) => Body::Sweep(sweep),
        Document::Bisection(bisection) => Body::Bisection(bisection),
        Document::Matrix(matrix) => Body::Matrix(matrix),
    }
}

/// Draws the page of a case and keeps it there: its path. Where that fails, it is said, and there is none: the verdict
/// stands without it.
fn keep_page(document: &Document, case: &Case, views: Result<PageViews, StudyError>) -> String {
    let progress = Progress::of("drawing the page");
    let file = case.folder().join(PAGE);
    let drawn = views.map(|views| page(document, views)).map_err(Failure::from);
    let written = drawn.and_then(|page| output::write(page.as_bytes(), Some(&file)));
    drop(progress);
    match written {
        Ok(()) => kept_page(case),
        Err(failure) => {
            output::say(&format!("the page could not be written: {}", failure.in_a_line()));
            String::new()
        }
    }
}

/// The page that a case holds already; empty where there is none.
pub fn kept_page(case: &Case) -> String {
    let file = case.folder().join(PAGE);
    if file.is_file() { std::path::absolute(&file).unwrap_or(file).display().to_string() } else { String::new() }
}
