//! What `whyslow story --json` prints.

use super::casebook::Casebook;
use super::check::Check;
use super::declaration::{Story, Telling};
use super::run::{State, StoryRun, variants_skipped};
use super::telling::{Outcome, Told};
use serde_json::{Value, json};

/// The version of what is printed.
const SCHEMA: u32 = 1;

/// The stories that there are.
pub fn list(casebook: &Casebook) -> Value {
    let entry = |story: &Story| {
        json!({
            "name": story.name,
            "summary": story.summary,
            "question": story.question,
            "answer": story.answer,
            "seconds": story.seconds,
            "client": story.subject.client,
            "server": story.subject.server,
            "prepared": story.subject.prepared,
            "link": story.world.link,
            "world": story.world.besides,
            "variants": story.tellings.iter().map(Telling::name).collect::<Vec<_>>(),
        })
    };
    let stories = casebook.stories.iter().map(entry).collect::<Vec<_>>();
    document(casebook, &json!({ "stories": stories }))
}

/// What was run and checked.
pub fn done(casebook: &Casebook, done: &[StoryRun]) -> Value {
    let of = |state| done.iter().filter(|run| run.state() == state).count();
    let contents = json!({
        "stories": done.iter().map(story).collect::<Vec<_>>(),
        "held": of(State::Held),
        "failed": of(State::Failed),
        "skipped": of(State::Skipped),
        "variants_skipped": variants_skipped(done),
    });
    document(casebook, &contents)
}

fn document(casebook: &Casebook, contents: &Value) -> Value {
    let mut document = json!({ "schema": SCHEMA, "casebook": casebook.folder.display().to_string() });
    for (key, value) in contents.as_object().into_iter().flatten() {
        document[key] = value.clone();
    }
    document
}

fn story(run: &StoryRun) -> Value {
    let variants = run.tellings.iter().map(|(telling, outcome)| variant(&telling.name(), outcome));
    json!({
        "name": run.story.name,
        "state": run.state().name(),
        "seconds": run.seconds,
        "checks": run.checks.iter().map(check).collect::<Vec<_>>(),
        "variants": variants.collect::<Vec<_>>(),
    })
}

fn check(check: &Check) -> Value {
    json!({
        "aspect": check.aspect.name(), "variant": check.telling, "holds": check.holds, "seen": check.seen,
    })
}

fn variant(name: &str, outcome: &Outcome) -> Value {
    match outcome {
        Outcome::Skipped => json!({ "variant": name, "state": "skipped" }),
        Outcome::Failed(why) => json!({ "variant": name, "state": "failed", "problem": why }),
        Outcome::Told(told) => answered(name, told),
    }
}

fn answered(name: &str, told: &Told) -> Value {
    json!({
        "variant": name,
        "state": "told",
        "summary": told.summary(),
        "case": told.case.display().to_string(),
        "page": told.page().map(|page| page.display().to_string()),
        "exit": told.exit,
        "seconds": told.seconds,
    })
}
