//! A comparison: which of two takes more, by how much, and where that comes from.

use super::{code, escape, list, machine, part, table, typed};
use crate::chain;
use crate::command::command;
use crate::comparison::gates::line;
use crate::comparison::origin::signed;
use crate::comparison::{contrast_sentence, measuring, word};
use crate::figure::{noun, pair, range, three};
use case::{CodeContrast, Compared, Comparison, Manifest, Nanos, Side};

/// More rows than this nobody reads in a ticket.
const MOST_ROWS: usize = 10;

/// The whole text.
pub(super) fn comparison(told: &Comparison, manifest: &Manifest) -> String {
    let summary = if told.summary.is_empty() { contrast_sentence(told) } else { told.summary.clone() };
    let mut text = format!("## whyslow: A against B\n\n**{}**\n\n", escape(&summary));
    text += &side("A", &told.a);
    text += &side("B", &told.b);
    text += &part("Limits", &gates(told));
    text += &part("What was measured", &metrics(&told.metrics, ["A", "B"]));
    let per = if told.per.is_empty() { String::new() } else { format!(", per {}", escape(&told.per)) };
    text += &part(&format!("Where the time went{per}"), &ledger(told));
    text += &part(&format!("Processor time by library{per}"), &contrasts(&told.libraries, ["A", "B"]));
    text +=
        &part(&format!("Processor time by function, callees included{per}"), &contrasts(&told.functions, ["A", "B"]));
    text += &part(&format!("Calls that differ{per}"), &calls(told));
    text += &part("Trials", &escape(&measuring(told)));
    text += &part("But", &list(&told.warnings));
    text + &part("How to look again", &again(&told.case, manifest))
}

/// The command that shows a case again, and where it was recorded.
pub(super) fn again(case: &str, manifest: &Manifest) -> String {
    let machine = machine(manifest);
    let on = if machine.is_empty() { machine } else { format!("\nMeasured on {machine}.\n") };
    typed(&command(&["whyslow".into(), "report".into(), case.to_string()])) + &on
}

fn side(name: &str, side: &Side) -> String {
    let mut text = format!("- **{name}**: {}", code::span(&command(&side.command)));
    if !side.server.is_empty() {
        text += &format!("; server {}", code::span(&command(&side.server)));
    }
    if !side.changes.is_empty() {
        text += &format!("; with {}", escape(&side.changes.join(", ")));
    }
    if let Some(status) = side.exit.filter(|status| *status != 0) {
        text += &format!("; its exit status was {status}");
    }
    text + "\n"
}

fn gates(told: &Comparison) -> String {
    list(&told.gates.iter().map(line).collect::<Vec<_>>())
}

/// Metrics of both, named as told (escaped already), with their ratios.
pub(super) fn metrics(metrics: &[Compared], [a, b]: [&str; 2]) -> String {
    let rows = metrics.iter().map(|one| {
        let noun = noun(&one.metric);
        let name = noun.strip_prefix("the ").unwrap_or(&noun).to_string();
        if one.pairs == 0 {
            let why = "too few trials of both ended well".to_string();
            return vec![name, String::new(), String::new(), String::new(), String::new(), why];
        }
        let (a, b) = pair(&one.metric, one.a, one.b);
        let outcome = format!("{} ({} pairs)", word(one.outcome), one.pairs);
        vec![name, a, b, three(one.ratio), range(one.low, one.high), outcome]
    });
    let takes = if b == "B" { "B takes" } else { "it takes" };
    table(&["", a, b, &format!("{b}/{a}"), "95 % interval", takes], &rows.collect::<Vec<_>>())
}

fn ledger(told: &Comparison) -> String {
    let rows = told.ledger.iter().take(MOST_ROWS).map(|one| row(&one.name, one.a_ns, one.b_ns));
    table(&["Account", "A", "B", "B - A"], &rows.collect::<Vec<_>>())
}

/// Code of both, named as told (escaped already), with the difference.
pub(super) fn contrasts(contrasts: &[CodeContrast], [a, b]: [&str; 2]) -> String {
    let rows = contrasts.iter().take(MOST_ROWS);
    let rows = rows.map(|one| row(&chain::code(&one.function, &one.module), one.a_ns, one.b_ns));
    table(&["Code", a, b, &format!("{b} - {a}")], &rows.collect::<Vec<_>>())
}

fn calls(told: &Comparison) -> String {
    let rows = told.calls.iter().take(MOST_ROWS).map(|one| {
        let name = if one.about.is_empty() { one.call.clone() } else { format!("{} ({})", one.call, one.about) };
        let counts = [three(one.a_count), three(one.b_count)];
        let times = [Nanos(one.a_ns).to_string(), Nanos(one.b_ns).to_string(), signed(one.a_ns, one.b_ns)];
        [name].into_iter().chain(counts).chain(times).collect()
    });
    table(&["Call", "times: A", "B", "time: A", "B", "B - A"], &rows.collect::<Vec<_>>())
}

fn row(name: &str, a: u64, b: u64) -> Vec<String> {
    vec![name.to_string(), Nanos(a).to_string(), Nanos(b).to_string(), signed(a, b)]
}
