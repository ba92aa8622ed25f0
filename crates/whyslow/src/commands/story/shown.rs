//! What `whyslow story` prints in words; `studies` says the same as JSON.

use report::{clean, wrap};
use studies::story::casebook::Casebook;
use studies::story::check::{Aspect, Check};
use studies::story::declaration::Story;
use studies::story::run::{State, StoryRun, variants_skipped};
use studies::story::telling::Outcome;

/// As everywhere.
const COLUMNS: usize = 80;
/// Of the stories' names in lists.
const NAME_COLUMNS: usize = 21;
/// Of what was checked, in words.
const ASPECT_COLUMNS: usize = 13;
/// Of `ok` and `FAILED`.
const STATE_COLUMNS: usize = 8;

/// The stories: what is asked, the answer to expect, how long it takes.
pub fn list(casebook: &Casebook) -> String {
    casebook.stories.iter().map(entry).collect()
}

fn entry(story: &Story) -> String {
    let indent = " ".repeat(NAME_COLUMNS);
    let (name, time) = (clean(&story.name), format!("  {}", about(story.seconds)));
    wrap(&clean(&story.question), COLUMNS, &format!("{name:<NAME_COLUMNS$}"), &indent)
        + &wrap(&clean(&story.answer), COLUMNS, &format!("{time:<NAME_COLUMNS$}"), &indent)
}

fn about(seconds: u32) -> String {
    if seconds < 90 { format!("about {seconds} s") } else { format!("about {} min", seconds.div_ceil(60)) }
}

/// A story that was run: what it is, what whyslow said of each variant, and what of that was checked.
pub fn story(run: &StoryRun) -> String {
    let mut text = wrap(&clean(&run.story.summary), COLUMNS, &format!("{}: ", run.story.name), "  ");
    for (telling, outcome) in &run.tellings {
        text += &format!("\n{}\n{}", clean(&telling.name()), verdict(outcome));
    }
    text.push('\n');
    text += &run.checks.iter().map(|check| line(check, run.tellings.len() > 2)).collect::<String>();
    if run.state() == State::Skipped {
        text += "skipped: something it needs is missing\n";
    }
    text + "\n"
}

/// What whyslow said of a variant: its summary, the titles of its findings, and where everything else is.
fn verdict(outcome: &Outcome) -> String {
    let told = match outcome {
        Outcome::Told(told) => told,
        Outcome::Skipped => return "  Skipped: something it needs is missing (see above).\n".to_string(),
        Outcome::Failed(why) => return wrap(&clean(why), COLUMNS, "  No answer: ", "  "),
    };
    let findings = told.document["findings"].as_array();
    let nothing = if findings.is_some_and(Vec::is_empty) { "No cause found. " } else { "" };
    let mut text = wrap(&clean(&format!("{nothing}{}", told.summary())), COLUMNS, "  ", "  ");
    for title in findings.into_iter().flatten().filter_map(|finding| finding["title"].as_str()) {
        text += &wrap(&clean(title), COLUMNS, "  - ", "    ");
    }
    text += &format!("  Case: {}\n", clean(&told.case.display().to_string()));
    if let Some(page) = told.page() {
        text += &format!("  Page: {}\n", clean(&page.display().to_string()));
    }
    text
}

/// A thing that was checked.
fn line(check: &Check, names_telling: bool) -> String {
    let state = if check.holds { "ok" } else { "FAILED" };
    let first = format!("{state:<STATE_COLUMNS$}{:<ASPECT_COLUMNS$}", check.aspect.name());
    let of = if names_telling { format!("{}: ", check.telling) } else { String::new() };
    wrap(&clean(&format!("{of}{}", check.seen)), COLUMNS, &first, &" ".repeat(STATE_COLUMNS + ASPECT_COLUMNS))
}

/// All stories that were run, a line each, and how many came out as declared.
pub fn table(done: &[StoryRun]) -> String {
    let heads = Aspect::ALL.map(|aspect| format!("{:<ASPECT_COLUMNS$}", aspect.name())).concat();
    let mut text = format!("{:<NAME_COLUMNS$}{heads}{:>7}\n", "story", "seconds");
    for run in done {
        let cells = Aspect::ALL.map(|aspect| format!("{:<ASPECT_COLUMNS$}", cell(run, aspect))).concat();
        text += &format!("{:<NAME_COLUMNS$}{cells}{:>7.0}\n", run.story.name, run.seconds);
    }
    let of = |state| done.iter().filter(|run| run.state() == state).count();
    let (held, failed, skipped) = (of(State::Held), of(State::Failed), of(State::Skipped));
    let variants = match variants_skipped(done) {
        0 => String::new(),
        1 => " One variant was skipped.".to_string(),
        many => format!(" {many} variants were skipped."),
    };
    text + &format!("\n{} stories: {held} as declared, {failed} not, {skipped} skipped.{variants}\n", done.len())
}

fn cell(run: &StoryRun, aspect: Aspect) -> &'static str {
    let mut of_aspect = run.checks.iter().filter(|check| check.aspect == aspect).peekable();
    match (run.state(), of_aspect.peek().is_some()) {
        (State::Skipped, _) => "skipped",
        (_, false) => "-",
        (_, true) if of_aspect.all(|check| check.holds) => "ok",
        _ => "FAILED",
    }
}
