//! From evidence to the answer: which findings count, in which order, and the sentences about the whole.

use crate::Options;
use crate::analysis::Analysis;
use crate::analysis::ledger::{self, Class};
use crate::detectors::{ALL, Detector, Found};
use crate::overlap;
use case::tables::Loss;
use case::{Answer, Cost, Finding, LossTotals, Nanos, SCHEMA, Share, Status, Verdict, standing};
use std::collections::BTreeMap;

/// A finding under this share of the exchanges' wall or processor time is not worth a change.
const WORTH_A_CHANGE: f64 = 0.05;

/// Processor time that is less than this share of the run's wall time burns nothing: of a program that mostly waits, 5 %
/// of its processor time are microseconds.
const WORTH_OF_A_PROCESSOR: f64 = 0.01;

/// Draws the answer from the evidence.
pub fn draw(analysis: &Analysis, case_path: &str, options: Options) -> Answer {
    let manifest = &analysis.recording.manifest;
    let findings = findings(analysis, options);
    let subject = &manifest.subject;
    Answer {
        schema: SCHEMA,
        command: manifest.command.clone(),
        case: case_path.to_string(),
        page: String::new(),
        wall_ns: analysis.wall(),
        exchanges: analysis.exchanges.len() as u64,
        subject_exit: subject.exit.or(subject.signal.map(|signal| 128 + signal)),
        verdict: if findings.is_empty() { Verdict::None } else { Verdict::Suspected },
        summary: summary(analysis, &findings),
        findings,
        together: Vec::new(),
        live: Vec::new(),
        proof: None,
        ledger: ledger::of_run(analysis),
        losses: losses(analysis),
        missing: manifest.missing.clone(),
    }
}

fn findings(analysis: &Analysis, options: Options) -> Vec<Finding> {
    let worth = |cost: &Cost| options.all || dearness(analysis, cost) >= WORTH_A_CHANGE;
    let mut found: Vec<(&Detector, Found)> = Vec::new();
    for detector in ALL {
        if let Some(one) = (detector.detect)(analysis)
            && worth(&analysis.cost(&one.saving))
            && !overlap::is_consequence(detector, &found)
            && !overlap::is_explained(detector, &one, &found)
        {
            found.push((detector, one));
        }
    }
    let mut findings: Vec<Finding> =
        found.into_iter().map(|(detector, one)| finding(analysis, detector, one)).collect();
    // The sort is stable: of two equally dear, the more specific stays first.
    findings.sort_by(|one, other| dearness(analysis, &other.cost).total_cmp(&dearness(analysis, &one.cost)));
    findings
}

/// The larger of a cost's shares of wall and of processor time, the latter where it amounts to something.
fn dearness(analysis: &Analysis, cost: &Cost) -> f64 {
    let in_all = cost.cpu_ns_per_exchange as f64 * analysis.exchanges.len().max(1) as f64;
    let burns = in_all >= WORTH_OF_A_PROCESSOR * analysis.wall() as f64;
    if burns { cost.share_of_wall.max(cost.share_of_cpu) } else { cost.share_of_wall }
}

fn finding(analysis: &Analysis, detector: &Detector, found: Found) -> Finding {
    Finding {
        id: detector.page.id.to_string(),
        name: detector.page.name.to_string(),
        status: Status::Suspected,
        title: found.title,
        mechanism: found.mechanism,
        cost: analysis.cost(&found.saving),
        effect: None,
        tried: Vec::new(),
        place: found.place,
        remedy: found.remedy,
        evidence: found.rows,
        caveats: caveats(analysis),
    }
}

/// What was lost while the findings' rows were recorded. They spread over the whole run, so every loss concerns them.
fn caveats(analysis: &Analysis) -> Vec<String> {
    let mut lost: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    let worth_saying = |row: &&Loss| row.count > 0 && (row.table != "stacks" || many_stacks_lost(analysis));
    for row in analysis.recording.losses.iter().filter(worth_saying) {
        *lost.entry((&row.table, &row.reason)).or_default() += row.count;
    }
    let mut caveats: Vec<String> = lost
        .into_iter()
        .map(|((table, reason), count)| match table {
            "stacks" => format!("{count} stacks are missing or truncated ({reason}): some places may lack callers."),
            table => format!("{count} rows of {table} were lost ({reason}): counts are lower bounds."),
        })
        .collect();
    if !analysis.recording.manifest.closed {
        caveats.push("The recording was cut short: the last rows may be missing.".to_string());
    }
    caveats
}

/// A stack that was not walked to its root costs a place its outermost callers, no count. Of the samples alone more than
/// this share must be concerned before a finding's place is doubtful; the answer's losses tell the number in any case.
const DOUBTFUL_STACKS: f64 = 0.05;

fn many_stacks_lost(analysis: &Analysis) -> bool {
    losses(analysis).stacks as f64 > DOUBTFUL_STACKS * analysis.recording.samples.len().max(1_000) as f64
}

fn losses(analysis: &Analysis) -> LossTotals {
    let mut totals = LossTotals::default();
    for row in &analysis.recording.losses {
        if row.table == "stacks" { totals.stacks += row.count } else { totals.events += row.count }
    }
    totals
}

/// Where the time went, in one or two sentences.
fn summary(analysis: &Analysis, findings: &[Finding]) -> String {
    let between: f64 = analysis.accounts.run.iter().filter(|(account, _)| account.is_outside()).map(|(_, ns)| ns).sum();
    let mostly_between = between * 2.0 > analysis.wall() as f64;
    standing(findings)
        + &match (analysis.exchanges.len(), mostly_between) {
            (0, _) => of_the_run(analysis),
            (count, true) => of_the_time_between(analysis, count, between),
            _ => of_the_exchanges(analysis),
        }
}

fn of_the_run(analysis: &Analysis) -> String {
    let ledger = ledger::of_run(analysis);
    let Some(largest) = ledger.accounts.first() else { return "Nothing was recorded.".to_string() };
    let share = Nanos(largest.ns).share_of(Nanos(ledger.total));
    let name = largest.account.name_of_run();
    format!("No exchanges; the largest part of the {}, {share}, is: {name}.", Nanos(ledger.total))
}

fn of_the_time_between(analysis: &Analysis, count: usize, between: f64) -> String {
    let outside: Vec<_> = analysis.accounts.run.iter().filter(|(account, _)| account.is_outside()).collect();
    let Some((account, length)) = outside.into_iter().max_by(|one, other| one.1.total_cmp(other.1)) else {
        return of_the_exchanges(analysis);
    };
    let wall = analysis.wall().max(1) as f64;
    let exchanges = if count == 1 { "the one exchange".to_string() } else { format!("{count} exchanges") };
    format!(
        "{} of the {} was spent outside {exchanges}; the largest part, {}, is: {}.",
        Share(between / wall),
        Nanos(analysis.wall()),
        Share(length / wall),
        account.fact(analysis).name(),
    )
}

fn of_the_exchanges(analysis: &Analysis) -> String {
    let mut classes: BTreeMap<Class, f64> = BTreeMap::new();
    for (account, length) in &analysis.accounts.exchanges {
        *classes.entry(account.class()).or_default() += length;
    }
    let total: f64 = classes.values().sum();
    let Some((&class, &length)) = classes.iter().max_by(|one, other| one.1.total_cmp(other.1)) else {
        return "The exchanges took no time.".to_string();
    };
    let count = analysis.exchanges.len();
    let mean = Nanos(analysis.exchange_wall() / count.max(1) as u64);
    let share = Share(length / total.max(1.0));
    let of =
        if count == 1 { format!("the one exchange's {mean}") } else { format!("{count} exchanges of {mean} each") };
    format!("{share} of {of} was {}.{}", words(class), advice(class, share))
}

fn words(class: Class) -> &'static str {
    match class {
        Class::ClientCpu => "CPU time of the client",
        Class::ServerCpu => "CPU time of the server",
        Class::Processor => "waiting for CPU",
        Class::ClientBlocked => "the client blocked on something local",
        Class::ServerBlocked => "the server blocked on something local",
        Class::SetUp => "connection setup",
        Class::Held => "bytes held back in a kernel before they were sent",
        Class::NetworkAndPeer => "the network and the peer, which was not recorded",
        Class::Network => "the network between the two",
        Class::Other => "unexplained time",
    }
}

fn advice(class: Class, share: Share) -> &'static str {
    if class == Class::NetworkAndPeer && share.0 >= 0.5 {
        " Record the server, too (--server), to look inside."
    } else {
        ""
    }
}
