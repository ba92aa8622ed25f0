//! Everything that was tried for a finding, as one small table: grouped by what it was tried for, doses in order and
//! drawn as bars.

mod doses;

use self::doses::doses;
use crate::figure::{base, noun, pair, range, spread, three};
use crate::style::Style;
use crate::text::{clean, shorten, wrap};
use case::{Finding, Metric, Purpose, Status, Trend, Tried};

/// A longer name has a line of its own, with its figures beneath.
const NAME_COLUMNS: usize = 22;
/// Blanks before a row.
const INDENT: &str = "    ";
/// How many doses and interventions are listed; more come from no trial of ours.
const MOST_ROWS: usize = 40;

/// The table; empty where the sentences have said it all.
pub(super) fn tried(finding: &Finding, style: Style) -> String {
    if has_been_said(finding) {
        return String::new();
    }
    let groups = groups(finding);
    let widths = Widths::of(groups.iter().flat_map(|group| &group.rows));
    let base = base(finding.tried.first().map_or(&Metric::default(), |one| &one.metric));
    let mut text = format!("  Tried (ratios are {base}, with their 95 % intervals):\n");
    for group in &groups {
        text += &wrap(&format!("{}:", group.heading), style.columns(), "  ", "  ");
        text += &if group.is_dose() { doses(group, style) } else { rows(&group.rows, &widths, style) };
        if !group.trend.is_empty() {
            text += &wrap(&group.trend, style.columns(), INDENT, INDENT);
        }
    }
    text
}

/// The one intervention tried is the one of the sentence.
fn has_been_said(finding: &Finding) -> bool {
    match (&finding.tried[..], &finding.effect) {
        ([], _) => true,
        ([one], Some(effect)) => one.intervention == effect.intervention && one.problem.is_empty(),
        _ => false,
    }
}

/// What was tried for one purpose and measured by one metric.
pub(crate) struct Group<'a> {
    pub(crate) heading: String,
    pub(crate) purpose: Purpose,
    pub(crate) rows: Vec<Row<'a>>,
    /// How the cost follows the dose, as a sentence; empty where nothing is known of that.
    pub(crate) trend: String,
}

impl Group<'_> {
    fn is_dose(&self) -> bool {
        self.purpose == Purpose::Dose
    }
}

/// One intervention, in the words of the table.
pub(crate) struct Row<'a> {
    pub(crate) tried: &'a Tried,
    pub(crate) name: String,
    pub(crate) before: String,
    pub(crate) after: String,
    ratio: String,
    interval: String,
    pub(crate) word: &'static str,
}

impl Row<'_> {
    /// Whether there are figures to show. An intervention that took effect can lack them: too few of its trials ended well.
    pub(crate) fn has_result(&self) -> bool {
        self.tried.applied && self.tried.ratio > 0.0
    }
}

/// What was tried, grouped by purpose and metric, causes first and doses in order.
pub(crate) fn groups(finding: &Finding) -> Vec<Group<'_>> {
    let mut groups: Vec<Group> = Vec::new();
    let mut ordered = finding.tried.iter().take(MOST_ROWS).collect::<Vec<_>>();
    ordered.sort_by(|a, b| rank(a.purpose).cmp(&rank(b.purpose)).then(dose(a).total_cmp(&dose(b))));
    for one in ordered {
        let heading = heading(one);
        match groups.iter_mut().find(|group| group.heading == heading) {
            Some(group) => group.rows.push(row(one)),
            None => {
                groups.push(Group { heading, purpose: one.purpose, rows: vec![row(one)], trend: trend(finding, one) });
            }
        }
    }
    groups
}

/// How the cost follows the dose of an intervention, for one in some dose.
fn trend(finding: &Finding, one: &Tried) -> String {
    let is_of = |trend: &&Trend| trend.intervention == one.intervention && trend.metric == one.metric;
    let found = finding.trend.as_ref().filter(|_| one.purpose == Purpose::Dose).filter(is_of);
    let Some((trend, (_, unit))) = found.zip(one.dose.split_once(' ')) else { return String::new() };
    // `10 certificates`, but each certificate.
    let unit = match unit {
        "times" => "1x",
        long if long.len() > 2 => long.trim_end_matches('s'),
        short => short,
    };
    if trend.low <= 0.0 {
        return "The cost does not measurably rise with the dose.".to_string();
    }
    let slope = spread(&trend.metric, trend.slope, trend.low, trend.high);
    format!("Each further {} adds {slope} to the {}.", clean(unit), noun(&trend.metric))
}

fn rank(purpose: Purpose) -> u8 {
    match purpose {
        Purpose::Cause => 0,
        Purpose::Dose => 1,
        Purpose::Control => 2,
        Purpose::Incremental => 3,
        Purpose::Asked => 4,
    }
}

/// The number that a dose begins with; those without one keep their order, after the others.
fn dose(tried: &Tried) -> f64 {
    let number = tried.dose.split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
    number.unwrap_or(f64::MAX)
}

fn heading(tried: &Tried) -> String {
    let purpose = match tried.purpose {
        Purpose::Cause => "To switch the cause off".to_string(),
        Purpose::Dose => format!("In doses of {}", clean(&tried.intervention)),
        Purpose::Control => "As a control, which must change nothing".to_string(),
        Purpose::Incremental => "To see what more can be had".to_string(),
        Purpose::Asked => "Because it was asked for".to_string(),
    };
    if tried.metric.is_none() { purpose } else { format!("{purpose} ({})", noun(&tried.metric)) }
}

fn row(tried: &Tried) -> Row<'_> {
    let name = match (tried.purpose, tried.dose.is_empty()) {
        (Purpose::Dose, false) => clean(&tried.dose),
        (_, true) => clean(&tried.intervention),
        (_, false) => format!("{} {}", clean(&tried.intervention), clean(&tried.dose)),
    };
    // An answer of an earlier version has no figures, only their ratio.
    let (before, after) = match (tried.before, tried.after) {
        (0.0, 0.0) => (String::new(), String::new()),
        (before, after) => pair(&tried.metric, before, after),
    };
    let interval = format!("({})", range(tried.low, tried.high));
    Row { tried, name, before, after, ratio: three(tried.ratio), interval, word: word(tried) }
}

/// What takes this much longer was made worse, and not just left as it was.
const WORSE: f64 = 1.05;

fn is_worse(tried: &Tried) -> bool {
    tried.ratio > 0.0 && tried.high < 1.0 / WORSE
}

/// What came of it. A control says what it did, as its success is to do nothing.
fn word(tried: &Tried) -> &'static str {
    match (tried.status, tried.purpose) {
        (Status::Confirmed, Purpose::Control) => "not as expected",
        (Status::Confirmed, _) => "confirmed",
        (Status::Refuted | Status::Undecided, _) if is_worse(tried) => "made it worse",
        (Status::Refuted, _) => "did nothing",
        (Status::Undecided | Status::Suspected, _) => "undecided",
    }
}

/// The widths of a table's columns.
#[derive(Default)]
struct Widths {
    name: usize,
    before: usize,
    after: usize,
    ratio: usize,
    interval: usize,
}

impl Widths {
    fn of<'a>(rows: impl IntoIterator<Item = &'a Row<'a>>) -> Widths {
        let mut widths = Widths::default();
        for row in rows {
            let columns = |text: &str| text.chars().count();
            if columns(&row.name) <= NAME_COLUMNS {
                widths.name = widths.name.max(columns(&row.name));
            }
            if row.has_result() {
                widths.before = widths.before.max(columns(&row.before));
                widths.after = widths.after.max(columns(&row.after));
                widths.ratio = widths.ratio.max(columns(&row.ratio));
                widths.interval = widths.interval.max(columns(&row.interval));
            }
        }
        widths
    }
}

fn rows(rows: &[Row], widths: &Widths, style: Style) -> String {
    rows.iter().map(|row| line(row, widths, style)).collect()
}

/// A row, on two lines where it would be too long for one.
fn line(row: &Row, widths: &Widths, style: Style) -> String {
    let Widths { name: names, .. } = *widths;
    if !row.has_result() {
        return without_result(row, names, style);
    }
    let figures = figures(row, widths);
    let one = format!("{INDENT}{:<names$}  {figures}", row.name);
    let text = if one.chars().count() <= style.columns() && row.name.chars().count() <= names {
        one
    } else {
        let name = shorten(&row.name, style.columns() - INDENT.len());
        format!("{INDENT}{name}\n{INDENT}  {}", figures.trim_start())
    };
    format!("{}\n{}", text.trim_end(), problem(row, style))
}

fn figures(row: &Row, widths: &Widths) -> String {
    let Widths { before, after, ratio, interval, .. } = *widths;
    let arrow = if row.before.is_empty() { "" } else { " -> " };
    let change = format!("{:>before$}{arrow:>4}{:<after$}", row.before, row.after);
    format!("{change}  {:>ratio$} {:<interval$}  {}", row.ratio, row.interval, row.word)
}

/// What became of an intervention without figures, and why.
pub(crate) fn no_result(tried: &Tried) -> (&'static str, String) {
    let (what, unknown) = if tried.applied {
        ("gave no result: ", "too few of its trials ended well")
    } else {
        ("did not take effect: ", "it is not known why")
    };
    (what, if tried.problem.is_empty() { unknown.into() } else { clean(&tried.problem) })
}

fn without_result(row: &Row, names: usize, style: Style) -> String {
    let (what, reason) = no_result(row.tried);
    let name = shorten(&row.name, style.columns() - INDENT.len());
    if name.chars().count() <= names.max(NAME_COLUMNS) {
        return wrap(&reason, style.columns(), &format!("{INDENT}{name:<names$}  {what}"), "      ");
    }
    format!("{INDENT}{name}\n{}", wrap(&reason, style.columns(), &format!("      {what}"), "      "))
}

/// What an intervention that took effect broke.
fn problem(row: &Row, style: Style) -> String {
    if row.tried.problem.is_empty() {
        return String::new();
    }
    wrap(&clean(&row.tried.problem), style.columns(), "      but: ", "      ")
}
