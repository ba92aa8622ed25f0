//! A casebook and what was run of it, as what `whyslow story` prints.

use super::casebook::Casebook;
use super::declaration::{Story, Variant};
use super::running::{Answered, VariantRun};
use case::{
    Answer, Status, StoryCheck, StoryEntry, StoryList, StoryOutcome, StoryProving, StoryResult, StoryResults,
    StoryState, StoryVariant,
};
use std::time::Duration;

/// The stories that there are.
pub fn list(casebook: &Casebook) -> StoryList {
    let entry = |story: &Story| StoryEntry {
        name: story.name.clone(),
        summary: story.summary.clone(),
        question: story.question.clone(),
        answer: story.answer.clone(),
        seconds: story.seconds,
        client: story.subject.client.clone(),
        server: story.subject.server.clone(),
        prepared: story.subject.prepared.clone(),
        link: story.world.link.clone(),
        world: story.world.besides.clone(),
        variants: story.variants.iter().map(Variant::label).collect(),
    };
    StoryList::of(casebook.folder.display().to_string(), casebook.stories.iter().map(entry).collect())
}

/// What was run and checked.
pub fn results(casebook: &Casebook, stories: Vec<StoryResult>) -> StoryResults {
    StoryResults::of(casebook.folder.display().to_string(), stories)
}

/// A story that was run: its variants, what was checked, and how long it took.
pub fn result(story: &Story, variants: Vec<StoryVariant>, checks: Vec<StoryCheck>, took: Duration) -> StoryResult {
    let (name, summary) = (story.name.clone(), story.summary.clone());
    let state = StoryState::of(&checks);
    StoryResult { name, summary, state, seconds: took.as_secs_f64(), checks, variants }
}

/// A variant that was run, and what came of it.
pub fn variant(of: &Variant, outcome: &VariantRun) -> StoryVariant {
    let outcome = match outcome {
        VariantRun::Skipped => StoryOutcome::Skipped,
        VariantRun::Failed(why) => StoryOutcome::Failed { problem: why.clone() },
        VariantRun::Answered(answer) => answered(answer),
    };
    StoryVariant { variant: of.label(), outcome }
}

fn answered(answer: &Answered) -> StoryOutcome {
    let titles = |findings: &Vec<serde_json::Value>| {
        findings.iter().filter_map(|finding| finding["title"].as_str().map(str::to_string)).collect()
    };
    let parsed: Option<Answer> = serde_json::from_value(answer.document.clone()).ok();
    StoryOutcome::Answered {
        names_a_wait: parsed.as_ref().is_some_and(Answer::names_a_wait),
        summary: answer.summary().to_string(),
        findings: answer.document["findings"].as_array().map(titles),
        case: answer.case.display().to_string(),
        page: answer.page().map(|page| page.display().to_string()),
        exit: answer.exit,
        seconds: answer.seconds,
        proving: parsed.as_ref().and_then(proving),
    }
}

/// What it took to confirm what heads an answer.
fn proving(answer: &Answer) -> Option<StoryProving> {
    let proof = answer.proof.as_ref().filter(|proof| proof.trials > 0)?;
    let is_confirmed = answer.findings.first().is_some_and(|finding| finding.status == Status::Confirmed);
    let proving = StoryProving { run_ns: answer.wall_ns, to_verdict_ns: proof.to_verdict_ns };
    is_confirmed.then_some(proving)
}
