//! `whyslow story list` and `whyslow story run NAME`: the casebook, told and checked from end to end.

mod shown;

use crate::arguments::{StoryAction, StoryArguments, StoryRunArguments};
use crate::console::Terminal;
use crate::fail::{self, Failure};
use crate::invoker::Invoker;
use crate::nearest::nearest;
use crate::{folder, output};
use std::path::PathBuf;
use std::time::{Instant, SystemTime};
use studies::story::casebook::Casebook;
use studies::story::check::checks;
use studies::story::declaration::{Story, Telling};
use studies::story::document;
use studies::story::run::{State, StoryRun};
use studies::story::telling::start;

/// Lists the stories, or runs them.
pub fn story(typed: &StoryArguments) -> Result<u8, Failure> {
    let casebook = Casebook::open(typed.casebook.as_deref())?;
    match &typed.action {
        StoryAction::List => {
            let text = if typed.json { output::json(&document::list(&casebook))? } else { shown::list(&casebook) };
            output::print(&text)?;
            Ok(0)
        }
        StoryAction::Run(run) => run_chosen(&casebook, run, typed.json),
    }
}

fn run_chosen(casebook: &Casebook, typed: &StoryRunArguments, as_json: bool) -> Result<u8, Failure> {
    let stories = casebook.chosen(&typed.name);
    if stories.is_empty() {
        let names = casebook.stories.iter().map(|story| story.name.as_str());
        return Err(Failure::unknown_story(&typed.name, &nearest(&typed.name, names)));
    }
    let tellings = stories.iter().map(|story| chosen_tellings(story, typed)).collect::<Result<Vec<_>, _>>()?;
    if !nix::unistd::geteuid().is_root() {
        return Err(Failure::needs_root("run a story", "recording needs root, and most stories need a link"));
    }
    let kept = cases(typed)?;
    let mut left = stories.iter().map(|story| u64::from(story.seconds)).sum::<u64>();
    let mut done = Vec::new();
    for (number, (story, tellings)) in (1..).zip(stories.iter().zip(tellings)) {
        if stories.len() > 1 {
            let minutes = left.div_ceil(60);
            output::say(&format!("story {number} of {}: {}; about {minutes} min left", stories.len(), story.name));
        }
        let run = run_one(story, &tellings, &kept)?;
        if !as_json {
            output::print(&shown::story(&run))?;
        }
        left = left.saturating_sub(u64::from(story.seconds));
        done.push(run);
    }
    if as_json {
        output::print(&output::json(&document::done(casebook, &done))?)?;
    } else if done.len() > 1 {
        output::print(&shown::table(&done))?;
    }
    Ok(code(&done))
}

/// 1 where one did not come out as declared, 3 where there was none to tell.
fn code(done: &[StoryRun]) -> u8 {
    let any = |state| done.iter().any(|run| run.state() == state);
    match (any(State::Failed), any(State::Held)) {
        (true, _) => 1,
        (false, true) => 0,
        (false, false) => fail::INCONCLUSIVE,
    }
}

/// The tellings of a story that are wanted.
fn chosen_tellings<'a>(story: &'a Story, typed: &StoryRunArguments) -> Result<Vec<&'a Telling>, Failure> {
    let is_wanted = |telling: &&Telling| typed.variant.as_ref().is_none_or(|variant| telling.variant == *variant);
    let wanted = story.tellings.iter().filter(is_wanted).collect::<Vec<_>>();
    match &typed.variant {
        Some(variant) if wanted.is_empty() => {
            let known = story.tellings.iter().map(|telling| telling.variant.as_str()).collect::<Vec<_>>();
            Err(Failure::unknown_variant(&story.name, variant, &known))
        }
        _ => Ok(wanted),
    }
}

/// Where cases go: a folder below the one named, or one of their own among the user's.
fn cases(typed: &StoryRunArguments) -> Result<impl Fn(&str) -> Result<PathBuf, Failure> + use<>, Failure> {
    let invoker = Invoker::find();
    let folder = typed.folder.as_deref().map(std::path::absolute).transpose();
    let folder = folder.map_err(|error| Failure::output(&error))?;
    let state = invoker.state_folder().ok_or_else(Failure::no_home)?;
    Ok(move |name: &str| {
        let path = match &folder {
            Some(folder) => folder.join(name),
            None => folder::new_case(&state, &[name.to_string()], SystemTime::now()),
        };
        folder::make_parents(&path, &invoker)?;
        Ok(path)
    })
}

/// Tells a story's variants one after another, and checks each.
fn run_one<'a>(
    story: &'a Story,
    tellings: &[&'a Telling],
    case: &impl Fn(&str) -> Result<PathBuf, Failure>,
) -> Result<StoryRun<'a>, Failure> {
    let begun = Instant::now();
    let mut run = StoryRun { story, tellings: Vec::new(), checks: Vec::new(), seconds: 0.0 };
    for (number, telling) in (1..).zip(tellings) {
        let (name, count) = (telling.name(), tellings.len());
        let words = telling.words().join(" ");
        output::say(&format!("{}, {number} of {count}: run.sh {words}", story.name));
        let path = case(&format!("{}-{}", story.name, name.replace(' ', "-")))?;
        let started = start(story, telling, &path)?;
        let outcome = started.finish(&Terminal::take(&Invoker::find())?)?;
        run.checks.extend(checks(story, telling, &outcome));
        run.tellings.push((telling, outcome));
    }
    run.seconds = begun.elapsed().as_secs_f64();
    Ok(run)
}
