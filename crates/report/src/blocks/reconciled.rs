//! How the ledger stands beside what the scheduler counted. The page and Markdown show every measure; the terminal speaks up
//! only where time is unexplained for it.

use crate::block::{Block, Section};
use crate::document::Document;
use crate::grid::Row;
use crate::part::{self, Part, Table, under};
use crate::style::Style;
use crate::text::{count, counted};
use case::facts::{Deviation, Reconciled, ReconciledSum, ThreadMeasure};
use case::{Answer, Nanos};

/// Deviations of which less than this share of the run is unexplained are left to the page.
const WORTH_SAYING: f64 = 0.01;
/// Rows of deviations shown before the others are folded away.
const MOST_ROWS: usize = 8;

pub(crate) const BLOCK: Block =
    Block { text: Some(text), ..Block::of(Section::Ledger, |document| document.answer().map_or(Vec::new(), parts)) };

fn parts(answer: &Answer) -> Vec<Part> {
    let Some(reconciled) = &answer.ledger.reconciled else { return errors(answer).into_iter().collect() };
    let mut parts = Vec::new();
    if reconciled.threads > 0 {
        parts.push(Part::Paragraph(intro(reconciled)));
        parts.push(Part::Table(Table::of(
            "All threads together",
            ["From the events", "From the scheduler", "Difference"],
            reconciled.sums.iter().map(sum).collect(),
        )));
        if !reconciled.deviations.is_empty() {
            parts.push(Part::Paragraph(
                "Time on CPU that the scheduler did not count went to interrupts, a hypervisor or switching: it counts as \
                 unexplained. A thread waits for a CPU from its wake-up here, and from when it is queued in the scheduler's \
                 sums: that difference counts as unexplained only where switches or calls are missing:"
                    .into(),
            ));
        }
        parts.extend(stolen(reconciled));
        let columns = ["From the events", "From the scheduler", "Unexplained"];
        let rows = reconciled.deviations.iter().map(deviation).collect();
        parts.push(Part::Table(Table::of("Thread", columns, rows).most(MOST_ROWS)));
    }
    parts.extend(lost(reconciled));
    parts.extend(errors(answer));
    under("Cross-check with the scheduler", parts)
}

/// What somebody at a terminal has to know.
fn text(document: &Document, style: Style) -> String {
    let Some(answer) = document.answer() else { return String::new() };
    let reconciled = answer.ledger.reconciled.as_ref();
    let worst = reconciled
        .and_then(|reconciled| reconciled.deviations.first())
        .filter(|worst| Nanos(worst.unexplained_ns).share_of(Nanos(answer.ledger.total)).0 >= WORTH_SAYING);
    let mut parts: Vec<Part> = worst.map(|worst| Part::Paragraph(said(worst))).into_iter().collect();
    parts.extend(reconciled.and_then(lost));
    parts.extend(errors(answer));
    part::text::of(&parts, style)
}

fn intro(reconciled: &Reconciled) -> String {
    let deviating = match reconciled.deviating {
        0 => "none deviates by more than 1 %".to_string(),
        1 => "1 deviates by more than 1 %".to_string(),
        some => format!("{} deviate by more than 1 %", count(some)),
    };
    let unknown = match reconciled.not_compared {
        0 => String::new(),
        some => format!(" The scheduler's sums of {} are not known.", counted(some, "more thread")),
    };
    let threads = counted(reconciled.threads, "thread");
    format!(
        "The ledger is made from recorded events; the scheduler keeps sums of its own. Of {threads}, {deviating}.{unknown}"
    )
}

fn sum(sum: &ReconciledSum) -> Row {
    let (ledger, scheduler) = (figure(sum.measure, sum.ledger), figure(sum.measure, sum.scheduler));
    let apart = match sum.scheduler {
        0 => figure(sum.measure, sum.apart),
        whole => Nanos(sum.apart).share_of(Nanos(whole)).to_string(),
    };
    Row::new(words(sum.measure), [ledger, scheduler, apart])
}

fn deviation(one: &Deviation) -> Row {
    let name = format!("{} ({}), {}", one.name, one.tid, words(one.measure));
    let figures = [figure(one.measure, one.ledger), figure(one.measure, one.scheduler)];
    Row::new(name, figures.into_iter().chain([Nanos(one.unexplained_ns).to_string()]))
}

fn said(worst: &Deviation) -> String {
    let (name, tid, measure) = (&worst.name, worst.tid, words(worst.measure));
    let (ledger, scheduler) = (figure(worst.measure, worst.ledger), figure(worst.measure, worst.scheduler));
    let unexplained = Nanos(worst.unexplained_ns);
    format!(
        "Cross-check of {name} (thread {tid}), {measure}: {ledger} from the events, {scheduler} from the scheduler; \
         {unexplained} of its time therefore counts as unexplained."
    )
}

fn stolen(reconciled: &Reconciled) -> Option<Part> {
    let stolen = Nanos(reconciled.stolen_ns);
    let sentence = || {
        format!("The hypervisor ran others for at least {stolen} of that (steal time): it counts as waiting for a CPU.")
    };
    (stolen.0 > 0).then(|| Part::Paragraph(sentence()))
}

fn lost(reconciled: &Reconciled) -> Option<Part> {
    let lost = Nanos(reconciled.lost_ns);
    let sentence = || format!("Events were lost in stretches of {lost} in total. That time counts as unexplained.");
    (reconciled.lost_ns > 0).then(|| Part::Paragraph(sentence()))
}

/// Time that was booked twice.
fn errors(answer: &Answer) -> Option<Part> {
    let over = Nanos(answer.ledger.overbooked);
    let sentence = || {
        format!(
            "The accounts add up to {over} more than the total: time was booked twice. This is an error in whyslow, and the \
             shares above are not to be trusted."
        )
    };
    (answer.ledger.overbooked > 0).then(|| Part::Paragraph(sentence()))
}

fn figure(measure: ThreadMeasure, figure: u64) -> String {
    if measure.is_time() { Nanos(figure).to_string() } else { count(figure) }
}

fn words(measure: ThreadMeasure) -> &'static str {
    match measure {
        ThreadMeasure::OnCpu => "on CPU",
        ThreadMeasure::RunDelay => "waiting for a CPU",
        ThreadMeasure::Blocked => "blocked",
        ThreadMeasure::Waits => "waits",
        ThreadMeasure::Calls => "recorded calls",
        ThreadMeasure::Other => "another measure",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Body;
    use crate::examples::answer as examples;

    fn of(answer: &Answer) -> (String, String) {
        let (body, sides) = (Body::Answer(answer), Vec::new());
        let document = Document { body, sides, differences: Vec::new(), arms: Vec::new(), manifest: None };
        (BLOCK.text(&document, Style::default()), BLOCK.markdown(&document))
    }

    fn reconciled(unexplained_ns: u64) -> Answer {
        let mut answer = examples::slow();
        let measure = ThreadMeasure::OnCpu;
        let (ledger, scheduler) = (2_000_000_000, 1_400_000_000);
        let deviation =
            Deviation { tid: 71, pid: 70, name: "worker".into(), measure, ledger, scheduler, unexplained_ns };
        answer.ledger.reconciled = Some(Reconciled {
            threads: 4,
            sums: vec![ReconciledSum { measure, ledger: 3_000_000_000, scheduler: 2_400_000_000, apart: 600_000_000 }],
            deviating: 1,
            deviations: vec![deviation],
            ..Reconciled::default()
        });
        answer
    }

    #[test]
    fn a_deviation_names_its_thread_and_both_figures() {
        let (text, markdown) = of(&reconciled(600_000_000));
        for shown in [text.replace('\n', " "), markdown] {
            for word in ["worker", "71", "2.00 s", "1.40 s", "600 ms", "unexplained"] {
                assert!(shown.contains(word), "'{word}' is not in {shown}");
            }
        }
    }

    #[test]
    fn what_the_hypervisor_took_is_said_on_the_page() {
        let mut answer = reconciled(0);
        let facts = answer.ledger.reconciled.as_mut().expect("sums");
        facts.stolen_ns = 600_000_000;
        let (text, markdown) = of(&answer);
        assert_eq!(text, "");
        assert!(markdown.contains("at least 600 ms of that (steal time)"), "{markdown}");
    }

    #[test]
    fn a_small_deviation_is_left_to_the_page() {
        let (text, markdown) = of(&reconciled(1_000_000));
        assert_eq!(text, "");
        assert!(markdown.contains("1.00 ms") && markdown.contains("1 deviates by more than 1 %"), "{markdown}");
    }

    #[test]
    fn lost_stretches_and_overbooked_time_are_always_said() {
        let mut answer = examples::slow();
        assert_eq!(of(&answer), (String::new(), String::new()));
        answer.ledger.overbooked = 5_000_000;
        answer.ledger.reconciled = Some(Reconciled { lost_ns: 40_000_000, ..Reconciled::default() });
        let (text, markdown) = of(&answer);
        for shown in [text.replace('\n', " "), markdown] {
            assert!(shown.contains("40.0 ms in total") && shown.contains("5.00 ms more than the total"), "{shown}");
        }
    }
}
