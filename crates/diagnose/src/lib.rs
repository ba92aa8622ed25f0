//! What a recording means: where the time went, and which named pathologies explain it.
//!
//! Promises: pure (a recording in, an answer out; no clock, no files, no network); the same recording gives the same
//! answer byte for byte; every account of a ledger adds up to its whole; a cause is named only where its mechanism was
//! seen, and nothing here ever calls one confirmed: that takes trials.

mod analysis;
mod answer;
mod behind;
mod blame;
mod blind;
mod catalogue;
mod code;
mod connections;
mod contrast;
mod detectors;
mod exchange;
mod flights;
mod flow;
mod growth;
mod heaviest;
mod hottest;
mod images;
mod in_hand;
mod input_growth;
mod installed;
mod java;
mod kernel_work;
mod lookups;
mod network_path;
mod number;
mod overlap;
mod paced;
mod pauses;
mod pieces;
mod place;
mod profile;
mod questions;
mod said;
mod search;
mod segment_tie;
mod send_stalls;
mod side_by_side;
mod single_wait;
mod spans;
mod steal;
mod stops;
mod tail;
mod threads;
mod troubles;
mod units;
mod unread;
mod views;
mod waits;
mod whole_run;
mod windows;

pub use analysis::Analysis;
pub use blame::{LibraryBlame, blame};
pub use catalogue::{Known, catalogue};
pub use connections::End;
pub use contrast::{Contrasts, contrast};
pub use detectors::Page;
pub use exchange::{Exchange, SetUp};
pub use growth::growth;
pub use hottest::{Hottest, hottest};
pub use profile::{Frame, Profile, Time, profile};
pub use segment_tie::segment_tie;
pub use views::flame_difference;
pub use waits::RequestCost;

use case::views::Views;
use case::{Answer, syscall};
use std::sync::LazyLock;

/// How a recording is to be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Report also findings that could save less than 5 % of the exchanges' wall time and of the CPU time.
    pub all: bool,
}

impl Analysis<'_> {
    /// What the recording means. `case_path` is the folder to name in the answer.
    pub fn answer(&self, case_path: &str, options: Options) -> Answer {
        answer::draw(self, case_path, options)
    }

    /// The longest waits with whoever ended them: rows of the case's table.
    pub fn wait_rows(&self) -> Vec<case::tables::Wait> {
        waits::rows(self)
    }

    /// What each request cost the server in CPU time.
    pub fn request_costs(&self) -> Vec<RequestCost> {
        waits::costs(self)
    }

    /// What the recording shows; the answer names the findings whose evidence is wanted.
    pub fn views(&self, answer: &Answer) -> Views {
        views::draw(self, answer)
    }
}

/// The pages of all pathologies that are looked for, and of their absence, in the order of their identifiers.
pub fn pages() -> &'static [Page] {
    static PAGES: LazyLock<Vec<Page>> = LazyLock::new(|| {
        let mut pages: Vec<Page> = detectors::ALL.iter().map(page).collect();
        pages.push(detectors::healthy::PAGE);
        pages.sort_by_key(|page| page.id);
        pages
    });
    &PAGES
}

/// A detector's page, without the blank that a doc comment has before each line. Made once and kept for good.
fn page(detector: &detectors::Detector) -> Page {
    let lines = detector.page.text.lines().map(|line| line.strip_prefix(' ').unwrap_or(line));
    let text = lines.collect::<Vec<_>>().join("\n") + "\n";
    Page { text: Box::leak(text.into_boxed_str()), ..detector.page }
}

/// The page of one pathology, by its name or its identifier.
pub fn explain(name_or_id: &str) -> Option<&'static Page> {
    let asked = |page: &&Page| page.name.eq_ignore_ascii_case(name_or_id) || page.id.eq_ignore_ascii_case(name_or_id);
    pages().iter().find(asked)
}

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod tests;
