//! A matrix: which version is slower, by how much, and where.

use super::bisection::{hot_spots, inner};
use super::comparison::{again, metrics};
use super::{code, escape, list, part, table};
use crate::command::command;
use crate::figure::noun;
use crate::matrix::figures::{HEADINGS, cells, rows, unit};
use crate::matrix::states::{last_lines, told as state};
use crate::matrix::tries;
use crate::matrix::{measured, measuring, said, slower};
use case::{Manifest, Matrix, Version};

/// The whole text.
pub(super) fn matrix(told: &Matrix, manifest: &Manifest) -> String {
    let mut text = format!("## whyslow: versions of {}\n\n**{}**\n\n", escape(&told.library), escape(&said(told)));
    text += &format!("- ran on each {}\n", code::span(&command(&told.command)));
    if !told.server.is_empty() {
        text += &format!("- server {}\n", code::span(&command(&told.server)));
    }
    if !told.with.is_empty() {
        text += &format!("- built beside it {}\n", escape(&told.with.join(", ")));
    }
    for metric in &told.metrics {
        text += &figures(told, metric);
    }
    let first = measured(told).next().map(|first| first.version.clone()).unwrap_or_default();
    for version in measured(told).filter(|version| !version.ratios.is_empty()) {
        text += &against(version, &first);
    }
    for name in tries::names(told) {
        text += &tried(told, &name, &first);
    }
    text += &part("What became of every version", &states(told));
    text += &part("Trials", &escape(&measuring(told)));
    text += &part("But", &list(&told.warnings));
    text + &part("How to look again", &again(&told.case, manifest))
}

fn figures(told: &Matrix, metric: &str) -> String {
    let of = rows(told, metric);
    let (unit, size) = unit(metric, &of);
    let in_unit = if unit.is_empty() { String::new() } else { format!(", in {unit}") };
    let headings = ["Version"].into_iter().chain(HEADINGS).collect::<Vec<_>>();
    let rows = of.iter().map(|(version, figures)| {
        let cells = cells(figures, size);
        [version.clone()].into_iter().chain(cells).collect::<Vec<_>>()
    });
    part(&escape(&format!("{}{in_unit}", noun(metric))), &table(&headings, &rows.collect::<Vec<_>>()))
}

/// A version against the first: its ratios, and where it is slower, what carries the difference.
fn against(version: &Version, first: &str) -> String {
    let (first, name) = (escape(first), escape(&version.version));
    let mut body = metrics(&version.ratios, [&first, &name]);
    if slower(version).is_some() && !version.chain.is_empty() {
        body += &format!("\nWhat carries most of the difference:\n\n{}", inner(&version.chain, [&first, &name]));
        body += &hot_spots(&version.hot_spots);
    }
    part(&format!("{name} against {first}"), &body)
}

/// What was attached to every version from outside, by the metric that decides, and what remains with it.
fn tried(told: &Matrix, name: &str, first: &str) -> String {
    let metric = told.metrics.first().map(String::as_str).unwrap_or_default();
    let rows = tries::on(told, name).into_iter().map(|(version, tried)| {
        let cells = tries::cells(tried, metric).into_iter();
        [version.version.clone()].into_iter().chain(cells).chain([tries::note(tried, metric, first)]).collect()
    });
    let headings = ["Version", "plain", "with it", "plain / with", "95 % interval", "changes", "Note"];
    let title = format!("With {} attached from outside: {}", escape(name), escape(&noun(metric)));
    part(&title, &table(&headings, &rows.collect::<Vec<_>>()))
}

fn states(told: &Matrix) -> String {
    let one = |version: &Version| {
        let mut text = format!("- **{}**: {}", escape(&version.version), escape(&state(version)));
        if !version.mapped.is_empty() {
            text += &format!(" Loaded {}.", escape(&version.mapped.join(", ")));
        }
        if !version.log.is_empty() {
            text += &format!(" Log: {}.", escape(&version.log));
        }
        text += "\n";
        for line in last_lines(version) {
            text += &format!("  - {}\n", code::span(&line));
        }
        text
    };
    told.versions.iter().map(one).collect()
}
