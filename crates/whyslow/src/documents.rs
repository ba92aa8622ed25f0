//! Documents of studies on their way out: summed up in a sentence, kept in their case with a page, printed.

use crate::output;
use crate::progress::Progress;
use case::views::PageViews;
use case::{Case, Document, PAGE};
use fail::Failure;
use report::Conclusion;
use studies::{Done, StudyError};

/// Sums up what a study has found, draws its page, and keeps both in its case. What failed on the way, with the first error
/// of all: the document stands without it.
pub fn keep(done: Done) -> (Document, Option<Failure>) {
    let Done { document, case, views, failed, inside, .. } = done;
    let mut document = document.without_names(&case);
    let inside = inside.into_iter().filter_map(|one| keep(one).1).collect::<Vec<_>>();
    report::sum_up(&mut document);
    *document.page() = keep_page(&document.as_kept(&case), &case, views);
    let kept = document.keep(&case).err().map(Failure::from);
    let failed = inside.into_iter().chain(failed.map(Failure::from)).chain(kept).next();
    (document, failed)
}

/// Prints a document, and says how it comes out: the exit code.
pub fn show(document: &Document, as_json: bool) -> Result<u8, Failure> {
    output::document(document, as_json, |document| report::text(&report::Document::of(document), &output::style()))?;
    Ok(code_of(&report::conclusion_of(document)))
}

/// 0 nothing found, 1 findings, 3 inconclusive; 2 is for errors.
pub fn code_of(conclusion: &Conclusion) -> u8 {
    match conclusion {
        Conclusion::Nothing => 0,
        Conclusion::Findings => 1,
        Conclusion::Inconclusive(_) => output::INCONCLUSIVE,
    }
}

/// Draws the page of a case and keeps it there: its path. Where that fails, it is said, and there is none: the verdict
/// stands without it.
fn keep_page(document: &Document, case: &Case, views: Result<PageViews, StudyError>) -> String {
    let progress = Progress::of("drawing the page");
    let drawn = views.map(|views| report::page(&report::Document::of(document).with(views))).map_err(Failure::from);
    let written = drawn.and_then(|page| Ok(case.keep_file(PAGE, page.as_bytes())?));
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
    let is_there = file.symlink_metadata().is_ok_and(|found| found.is_file());
    if is_there { std::path::absolute(&file).unwrap_or(file).display().to_string() } else { String::new() }
}
