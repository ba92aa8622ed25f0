//! Stories: those that there are, and what came of running them.

use super::COLUMNS;
use crate::text::{clean, wrap};
use case::{
    Nanos, StoryAspect, StoryCheck, StoryEntry, StoryList, StoryOutcome, StoryResult, StoryResults, StoryState,
    StoryVariant,
};

/// Of the stories' names in lists.
const NAME_COLUMNS: usize = 21;
/// Of what was checked, in words.
const ASPECT_COLUMNS: usize = 13;
/// Of `ok` and `FAILED`.
const STATE_COLUMNS: usize = 8;

/// The stories: what is asked, the answer to expect, how long it takes.
pub fn stories(list: &StoryList) -> String {
    list.stories.iter().map(entry).collect()
}

fn entry(story: &StoryEntry) -> String {
    let indent = " ".repeat(NAME_COLUMNS);
    let (name, time) = (clean(&story.name), format!("  {}", about(story.seconds)));
    wrap(&clean(&story.question), COLUMNS, &format!("{name:<NAME_COLUMNS$}"), &indent)
        + &wrap(&clean(&story.answer), COLUMNS, &format!("{time:<NAME_COLUMNS$}"), &indent)
}

fn about(seconds: u32) -> String {
    if seconds < 90 { format!("about {seconds} s") } else { format!("about {} min", seconds.div_ceil(60)) }
}

/// A story that was run: what it is, what whyslow answered to each variant, and what of that was checked.
pub fn story(run: &StoryResult) -> String {
    let mut text = wrap(&clean(&run.summary), COLUMNS, &format!("{}: ", run.name), "  ");
    for variant in &run.variants {
        text += &format!("\n{}\n{}", clean(&variant.variant), answer(variant));
    }
    text.push('\n');
    text += &run.checks.iter().map(|check| line(check, run.variants.len() > 2)).collect::<String>();
    if run.state == StoryState::Skipped {
        text += "skipped: something it needs is missing\n";
    }
    text + "\n"
}

/// What whyslow answered: its summary, the titles of its findings, and where everything else is.
fn answer(variant: &StoryVariant) -> String {
    let (said, findings, case, page) = match &variant.outcome {
        StoryOutcome::Answered { findings, case, page, .. } => (said(&variant.outcome), findings, case, page),
        StoryOutcome::Skipped => return "  Skipped: something it needs is missing (see above).\n".to_string(),
        StoryOutcome::Failed { problem } => return wrap(&clean(problem), COLUMNS, "  No answer: ", "  "),
    };
    let mut text = wrap(&said, COLUMNS, "  ", "  ");
    for title in findings.iter().flatten() {
        text += &wrap(&clean(title), COLUMNS, "  - ", "    ");
    }
    if let Some(proving) = variant.proving() {
        let (trials, run) = (Nanos(proving.to_verdict_ns), Nanos(proving.run_ns));
        text += &format!("  Verdict: after {trials} of trials; a run takes {run}\n");
    }
    text += &format!("  Case: {}\n", clean(case));
    if let Some(page) = page {
        text += &format!("  Page: {}\n", clean(page));
    }
    text
}

/// The exit status of an answer that decides nothing.
const INCONCLUSIVE: i32 = 3;

/// The summary, and what it means that there are no findings. A wait that takes most of the time is no such thing as no
/// cause: its cause is not known.
fn said(outcome: &StoryOutcome) -> String {
    let StoryOutcome::Answered { summary, findings, exit, names_a_wait, .. } = outcome else { return String::new() };
    let summary = clean(summary);
    match (findings.as_ref().is_some_and(Vec::is_empty), *exit, names_a_wait) {
        (false, ..) => summary,
        (true, INCONCLUSIVE, _) => format!("Inconclusive. {summary}"),
        (true, _, true) => format!("{summary} No known cause of slowness was recognised in that."),
        (true, _, false) => format!("No cause found. {summary}"),
    }
}

/// A thing that was checked.
fn line(check: &StoryCheck, names_variant: bool) -> String {
    let state = if check.holds { "ok" } else { "FAILED" };
    let first = format!("{state:<STATE_COLUMNS$}{:<ASPECT_COLUMNS$}", word(check.aspect));
    let of = if names_variant { format!("{}: ", check.variant) } else { String::new() };
    wrap(&clean(&format!("{of}{}", check.seen)), COLUMNS, &first, &" ".repeat(STATE_COLUMNS + ASPECT_COLUMNS))
}

/// All stories that were run, a line each, and how many came out as declared.
pub fn story_table(done: &StoryResults) -> String {
    let heads = StoryAspect::ALL.map(|aspect| format!("{:<ASPECT_COLUMNS$}", word(aspect))).concat();
    let mut text = format!("{:<NAME_COLUMNS$}{heads}{:>7}\n", "story", "seconds");
    for run in &done.stories {
        let cells = StoryAspect::ALL.map(|aspect| format!("{:<ASPECT_COLUMNS$}", cell(run, aspect))).concat();
        text += &format!("{:<NAME_COLUMNS$}{cells}{:>7.0}\n", run.name, run.seconds);
    }
    let variants = match done.variants_skipped {
        0 => String::new(),
        1 => " One variant was skipped.".to_string(),
        many => format!(" {many} variants were skipped."),
    };
    let StoryResults { held, failed, skipped, .. } = done;
    let count = done.stories.len();
    text += &format!("\n{count} stories: {held} as declared, {failed} not, {skipped} skipped.{variants}\n");
    if let ([first, .., last], middle) = (&done.proving_short_ns[..], done.proving_short_ns.len() / 2) {
        let median = Nanos(done.proving_short_ns[middle]);
        let said = format!(
            "Where a run takes less than 3 s ({} of them), the verdict came after a median of {median} of trials ({} to {}).",
            done.proving_short_ns.len(),
            Nanos(*first),
            Nanos(*last)
        );
        text += &wrap(&said, COLUMNS, "", "");
    }
    text
}

fn cell(run: &StoryResult, aspect: StoryAspect) -> &'static str {
    let mut of_aspect = run.checks.iter().filter(|check| check.aspect == aspect).peekable();
    match (run.state, of_aspect.peek().is_some()) {
        (StoryState::Skipped, _) => "skipped",
        (_, false) => "-",
        (_, true) if of_aspect.all(|check| check.holds) => "ok",
        _ => "FAILED",
    }
}

fn word(aspect: StoryAspect) -> &'static str {
    match aspect {
        StoryAspect::Named => "named",
        StoryAspect::Located => "located",
        StoryAspect::Confirmed => "confirmed",
        StoryAspect::TwinSilent => "twin silent",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_story_without_findings_says_what_that_means() {
        let of = |exit, names_a_wait| {
            said(&StoryOutcome::Answered {
                summary: "All was a wait.".into(),
                findings: Some(Vec::new()),
                names_a_wait,
                case: String::new(),
                page: None,
                exit,
                seconds: 1.0,
                proving: None,
            })
        };
        assert_eq!(of(0, false), "No cause found. All was a wait.");
        assert_eq!(of(0, true), "All was a wait. No known cause of slowness was recognised in that.");
        assert_eq!(of(3, true), "Inconclusive. All was a wait.");
    }
}
