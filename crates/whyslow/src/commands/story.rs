//! `whyslow story list` and `whyslow story run NAME`: the casebook, run and checked end to end.

use crate::arguments::{StoryAction, StoryArguments, StoryRunArguments};
use crate::console::Terminal;
use crate::{folder, output, requests};
use case::{StoryResult, StoryResults};
use fail::Failure;
use std::path::{Path, PathBuf};
use std::time::Instant;
use studies::story::casebook::Casebook;
use studies::story::check::checks;
use studies::story::declaration::{Story, Variant};
use studies::story::document;
use studies::story::running::start;

/// Lists the stories, or runs them.
pub fn story(typed: &StoryArguments) -> Result<u8, Failure> {
    // Of what its caller may not read root says nothing: a declaration that cannot be read is quoted.
    let casebook = case::as_caller(|| Casebook::open(typed.casebook.as_deref()))?;
    match &typed.action {
        StoryAction::List => {
            output::document(&document::list(&casebook), typed.json, report::stories)?;
            Ok(0)
        }
        StoryAction::Run(run) => run_chosen(&casebook, run, typed.json),
    }
}

fn run_chosen(casebook: &Casebook, typed: &StoryRunArguments, as_json: bool) -> Result<u8, Failure> {
    let stories = casebook.chosen(&typed.name);
    if stories.is_empty() {
        let names = casebook.stories.iter().map(|story| story.name.as_str());
        return Err(Failure::unknown("story", &typed.name, names, ("whyslow story run", "whyslow story list")));
    }
    let variant = typed.variant.as_deref();
    let variants = stories.iter().map(|story| story.chosen(variant)).collect::<Result<Vec<_>, _>>()?;
    if !nix::unistd::geteuid().is_root() {
        return Err(Failure::needs_root("run a story", "recording needs root, and most stories need a link"));
    }
    let mut left = stories.iter().map(|story| u64::from(story.seconds)).sum::<u64>();
    let mut done = Vec::new();
    for (number, (story, variants)) in (1..).zip(stories.iter().zip(variants)) {
        if stories.len() > 1 {
            let minutes = left.div_ceil(60);
            output::say(&format!("story {number} of {}: {}; about {minutes} min left", stories.len(), story.name));
        }
        let run = run_one(story, &variants, typed.folder.as_deref())?;
        if !as_json {
            output::print(&report::story(&run))?;
        }
        left = left.saturating_sub(u64::from(story.seconds));
        done.push(run);
    }
    let done = document::results(casebook, done);
    if as_json || done.stories.len() > 1 {
        output::document(&done, as_json, report::story_table)?;
    }
    Ok(code(&done))
}

/// 1 where one did not come out as declared, 3 where none could be run.
fn code(done: &StoryResults) -> u8 {
    match (done.failed, done.held) {
        (1.., _) => 1,
        (0, 1..) => 0,
        (0, 0) => output::INCONCLUSIVE,
    }
}

/// Where a case goes: below the folder named, or among the user's.
fn case_folder(below: Option<&Path>, name: &str) -> Result<PathBuf, Failure> {
    let folder = requests::case_folder(below.map(|folder| folder.join(name)).as_deref(), &[name.to_string()])?;
    folder::make_parents(&folder)?;
    Ok(folder)
}

/// Runs a story's variants one after another, and checks each.
fn run_one(story: &Story, variants: &[&Variant], below: Option<&Path>) -> Result<StoryResult, Failure> {
    let begun = Instant::now();
    let (mut all, mut checked) = (Vec::new(), Vec::new());
    for (number, variant) in (1..).zip(variants) {
        let (name, count) = (variant.label(), variants.len());
        let words = variant.words().join(" ");
        output::say(&format!("{}, {number} of {count}: run.sh {words}", story.name));
        let path = case_folder(below, &format!("{}-{}", story.name, name.replace(' ', "-")))?;
        let started = start(story, variant, &path)?;
        let outcome = started.finish(&Terminal::take()?)?;
        checked.extend(checks(story, variant, &outcome));
        all.push(document::variant(variant, &outcome));
    }
    Ok(document::result(story, all, checked, begun.elapsed()))
}
