//! What a recording means: where the time went, and which named pathologies explain it.
//!
//! Promises: pure (a recording in, an answer out; no clock, no files, no network); the same recording gives the same
//! answer byte for byte; every account of a ledger adds up to its whole; a cause is named only where its mechanism was
//! seen, and nothing here ever calls one confirmed: that takes trials.

mod analysis;
mod answer;
mod blame;
mod code;
mod connections;
mod contrast;
mod detectors;
mod exchange;
mod growth;
mod hottest;
mod number;
mod overlap;
mod place;
mod profile;
mod segment_tie;
mod send_stalls;
mod threads;
mod units;
mod views;

pub use blame::{LibraryBlame, blame};
pub use connections::End;
pub use contrast::{Contrasts, contrast};
pub use detectors::Page;
pub use exchange::{Exchange, SetUp};
pub use growth::growth;
pub use hottest::{Hottest, hottest};
pub use profile::{Frame, Profile, Time, profile};
pub use segment_tie::segment_tie;
pub use views::{flame_difference, views};

use analysis::{Analysis, ledger};
use case::{Answer, Ledger, Recording, syscall};
use std::borrow::Cow;
use std::sync::LazyLock;

/// How a recording is to be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Report also findings that could save less than 5 % of the exchanges' wall time and of the processor time.
    pub all: bool,
}

/// The answer, and what it was drawn from.
#[derive(Clone, Debug)]
pub struct Diagnosis {
    /// The answer.
    pub answer: Answer,
    /// The exchanges that count, in order of their starts.
    pub exchanges: Vec<Exchange>,
    /// Where the time of all exchanges together went; its total is the sum of their lengths.
    pub exchange_ledger: Ledger,
    /// Where each thread's life went, in order of thread ids.
    pub thread_ledgers: Vec<(u32, Ledger)>,
}

/// Reads a recording: the answer only. `case_path` is the folder to name in it.
pub fn diagnose(recording: &Recording, case_path: &str, options: &Options) -> Answer {
    with_analysis(recording, |analysis| answer::draw(analysis, case_path, *options))
}

/// Reads a recording in full: also the ledgers of the exchanges and of every thread.
pub fn study(recording: &Recording, case_path: &str, options: &Options) -> Diagnosis {
    with_analysis(recording, |analysis| {
        let threads = analysis.threads.all().iter().enumerate();
        Diagnosis {
            answer: answer::draw(analysis, case_path, *options),
            exchanges: analysis.exchanges.clone(),
            exchange_ledger: ledger::of_exchanges(analysis),
            thread_ledgers: threads.map(|(slot, thread)| (thread.tid, ledger::of_thread(analysis, slot))).collect(),
        }
    })
}

/// The ledger of each exchange, in the order of [`Diagnosis::exchanges`]: for looking at single ones.
pub fn exchange_ledgers(recording: &Recording) -> Vec<Ledger> {
    with_analysis(recording, |analysis| {
        let mut walker = ledger::Walker::new(analysis);
        analysis.exchanges.iter().map(|exchange| ledger::of_exchange(&mut walker, exchange)).collect()
    })
}

/// Indexes a recording; one whose rows are not in order is put in order first.
fn with_analysis<T>(recording: &Recording, read: impl FnOnce(&Analysis) -> T) -> T {
    read(&Analysis::new(&sorted(recording)))
}

/// A recording with its rows in order.
fn sorted(recording: &Recording) -> Cow<'_, Recording> {
    if is_sorted(recording) {
        return Cow::Borrowed(recording);
    }
    let mut sorted = recording.clone();
    sorted.sort();
    Cow::Owned(sorted)
}

fn is_sorted(recording: &Recording) -> bool {
    recording.calls.is_sorted_by_key(|row| (row.tid, row.start))
        && recording.switches.is_sorted_by_key(|row| (row.tid, row.start))
        && recording.samples.is_sorted_by_key(|row| (row.tid, row.time))
        && recording.stacks.is_sorted_by_key(|row| (row.stack, row.depth))
        && recording.segments.is_sorted_by_key(|row| (row.connection, row.time))
        && recording.tcp_events.is_sorted_by_key(|row| (row.connection, row.time))
        && recording.tls_records.is_sorted_by_key(|row| (row.connection, row.time))
        && recording.http_messages.is_sorted_by_key(|row| (row.connection, row.time))
        && recording.lookups.is_sorted_by_key(|row| row.time)
        && recording.handshakes.is_sorted_by_key(|row| row.start)
        && recording.paths.is_sorted_by_key(|row| row.id)
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
