//! What was tried for the findings of a run: the sham first, then each finding's interventions, then what was tried
//! together.

use super::arms::{PLAIN, SHAM, dots, of_together, of_tried};
use super::chart::Chart;
use super::row::Measured;
use crate::blocks::findings::ordered;
use crate::blocks::findings::tried::{Row as Words, groups, no_result};
use crate::document::Document;
use crate::figure::factor;
use crate::text::clean;
use case::views::ArmDots;
use case::{Answer, Finding, Metric, Proof, Purpose, Together, Tried};

/// The charts of an answer; each intervention once.
pub(super) fn charts(answer: &Answer, document: &Document) -> Vec<Chart> {
    let mut charts = Vec::new();
    let mut shown: Vec<&Tried> = Vec::new();
    let mut sham = answer.proof.as_ref().and_then(|proof| sham(proof, &document.arms));
    for finding in ordered(answer) {
        for (metric, mut rows) in rows_of(finding, &mut shown, &document.arms) {
            if let Some(row) = sham.take_if(|sham| sham.metric == metric) {
                rows.insert(0, row);
            }
            charts.extend(Chart::of(format!("For {}", clean(&finding.name)), &metric, rows));
        }
    }
    charts.extend(together(answer, &document.arms));
    charts
}

/// The rows of a finding by metric, but for those shown already.
fn rows_of<'a>(finding: &'a Finding, shown: &mut Vec<&'a Tried>, arms: &[ArmDots]) -> Vec<(Metric, Vec<Measured>)> {
    let mut by_metric: Vec<(Metric, Vec<Measured>)> = Vec::new();
    for group in groups(finding) {
        for (index, row) in group.rows.iter().filter(|row| !shown.contains(&row.tried)).enumerate() {
            let mut measured = measured(row, arms);
            if index == 0 {
                // The metric stands at the axis.
                let heading = group.heading.split(" (").next().unwrap_or_default();
                let step =
                    if group.purpose == Purpose::Incremental { ", each on top of the step before it" } else { "" };
                let trend = if group.trend.is_empty() { String::new() } else { format!(". {}", group.trend) };
                measured.group = format!("{heading}{step}{trend}");
            }
            match by_metric.iter_mut().find(|(metric, _)| *metric == row.tried.metric) {
                Some((_, rows)) => rows.push(measured),
                None => by_metric.push((row.tried.metric.clone(), vec![measured])),
            }
        }
    }
    shown.extend(&finding.tried);
    by_metric
}

fn measured(row: &Words, arms: &[ArmDots]) -> Measured {
    let tried = row.tried;
    // An arm on top of others carries their names before its own.
    let stands = |(own, below): &(&str, &str)| own.strip_prefix(below).is_some_and(|rest| rest.starts_with('+'));
    let below = of_tried(arms, tried).filter(stands).filter(|_| tried.purpose != Purpose::Incremental);
    let below = below.map(|(_, below)| below);
    let base = Measured {
        intervention: clean(&tried.intervention),
        name: row.name.clone(),
        metric: tried.metric.clone(),
        dots: of_tried(arms, tried)
            .map(|(own, reference)| [reference, own].map(|arm| dots(arms, arm, &tried.metric).to_vec()))
            .unwrap_or_default(),
        trials: tried.trials,
        note: below.map(|below| format!("Both on top of {}.", clean(below))).unwrap_or_default(),
        ..Measured::default()
    };
    if !row.has_result() {
        let (what, why) = no_result(tried);
        return Measured { word: (what.trim_end_matches([':', ' ']).into(), "warn"), note: why, ..base };
    }
    let (factor, range) = factor(&tried.metric, tried.ratio, tried.low, tried.high);
    Measured {
        middles: (tried.before > 0.0 && tried.after > 0.0).then_some([tried.before, tried.after]),
        interval: Some((tried.low, tried.high)),
        factor,
        range,
        word: word(row),
        note: match tried.problem.as_str() {
            "" => base.note,
            problem => format!("{} But: {}", base.note, clean(problem)).trim_start().to_string(),
        },
        ..base
    }
}

/// What came of it in a word, and the badge's class.
fn word(row: &Words) -> (String, &'static str) {
    match (row.word, row.tried.purpose) {
        ("did nothing", Purpose::Control) => ("changed nothing, as it must".into(), "none"),
        ("confirmed", _) => (row.word.into(), "good"),
        ("did nothing", _) => (row.word.into(), "none"),
        ("not as expected" | "made it worse", _) => (row.word.into(), "bad"),
        _ => (row.word.into(), "warn"),
    }
}

/// What the machinery itself does: nothing attached against all of it, inert.
fn sham(proof: &Proof, arms: &[ArmDots]) -> Option<Measured> {
    let sham = proof.sham.as_ref()?;
    let both = [PLAIN, SHAM].map(|arm| dots(arms, arm, &sham.metric).to_vec());
    let middle = |index: usize| {
        let mut values = both[index].iter().filter(|dot| dot.counts).map(|dot| dot.value).collect::<Vec<_>>();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied()
    };
    let (factor, range) = factor(&sham.metric, sham.ratio, sham.low, sham.high);
    let is_inert = sham.low <= 1.0 && sham.high >= 1.0;
    let factor = if is_inert { "unchanged".to_string() } else { factor };
    Some(Measured {
        intervention: "sham".into(),
        name: "sham".into(),
        group: "The machinery itself: nothing attached, and everything attached but inert".into(),
        metric: sham.metric.clone(),
        middles: middle(0).zip(middle(1)).map(|(plain, inert)| [plain, inert]),
        trials: (both[0].len() + both[1].len()) as u32,
        dots: both,
        interval: Some((sham.low, sham.high)),
        factor,
        range,
        word: if is_inert {
            ("changes nothing, as it must".into(), "none")
        } else {
            ("changes something by itself".into(), "warn")
        },
        ..Measured::default()
    })
}

/// What was tried together; nothing where it is one step that its finding has shown.
fn together(answer: &Answer, arms: &[ArmDots]) -> Vec<Chart> {
    let mut charts = Vec::new();
    for steps in answer.together.chunk_by(|one, next| one.metric == next.metric) {
        let rows = steps.iter().map(|one| joint(one, arms)).collect();
        if let Some(first) = steps.first() {
            charts.extend(Chart::of("Together, step by step".into(), &first.metric, rows));
        }
    }
    charts
}

fn joint(one: &Together, arms: &[ArmDots]) -> Measured {
    let name = one.interventions.iter().map(|name| clean(name)).collect::<Vec<_>>().join(" + ");
    let own = of_together(arms, one).map(|arm| dots(arms, arm, &one.metric).to_vec()).unwrap_or_default();
    let (factor, range) = factor(&one.metric, one.ratio, one.low, one.high);
    let word = match (one.applied, one.low > 1.0) {
        (false, _) => ("did not all take effect", "warn"),
        (true, true) => ("gain", "good"),
        (true, false) => ("no gain shown", "none"),
    };
    Measured {
        intervention: name.clone(),
        name,
        metric: one.metric.clone(),
        dots: [dots(arms, SHAM, &one.metric).to_vec(), own],
        middles: (one.before > 0.0 && one.after > 0.0).then_some([one.before, one.after]),
        interval: Some((one.low, one.high)),
        factor: if one.applied { factor } else { String::new() },
        range: if one.applied { range } else { String::new() },
        word: (word.0.into(), word.1),
        trials: one.trials,
        ..Measured::default()
    }
}
