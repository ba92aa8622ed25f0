//! `whyslow logs FILES...`: who asks for what, since when, and what turning a part of it away would save.

use crate::arguments::{LogsAction, LogsArguments, LogsMergeArguments};
use crate::console::Terminal;
use crate::documents::code_of;
use crate::form::Form;
use crate::output;
use crate::progress::Progress;
use case::{Selected, Traffic};
use fail::Failure;
use report::Document;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use studies::logs::Request;
use studies::services::Rules;
use studies::{Console, Event, Interrupt};

/// Reads the logs, and says what they come down to.
pub fn logs(typed: LogsArguments) -> Result<u8, Failure> {
    if let Some(LogsAction::Merge(typed)) = &typed.action {
        return merge(typed);
    }
    let answer = typed.answer;
    let form = answer.file.as_deref().map(Form::of).transpose()?;
    let ranges = typed.ranges.iter().map(|text| named(text)).collect();
    let request = Request { paths: typed.paths, format: typed.format, ranges, case: answer.case, cube: answer.cube };
    if typed.follow {
        let traffic = follow(&request, typed.alarms.as_deref(), typed.duration)?;
        return show(&traffic, None, answer.json);
    }
    let progress = Progress::of("reading logs");
    if let Some(query) = &answer.sql {
        let selected = studies::logs::select(&request, query)?;
        drop(progress);
        return tell(&selected, answer.json);
    }
    let traffic = studies::logs::logs(&request)?;
    drop(progress);
    show(&traffic, form.zip(answer.file), answer.json)
}

/// Puts cubes together, and says what they come down to.
fn merge(typed: &LogsMergeArguments) -> Result<u8, Failure> {
    let answer = &typed.answer;
    let form = answer.file.as_deref().map(Form::of).transpose()?;
    let progress = Progress::of("reading cubes");
    if let Some(query) = &answer.sql {
        let selected = studies::logs::select_of_cubes(&typed.cubes, query)?;
        drop(progress);
        return tell(&selected, answer.json);
    }
    let traffic = studies::logs::merge(&typed.cubes, answer.case.as_deref(), answer.cube.as_deref())?;
    drop(progress);
    show(&traffic, form.zip(answer.file.clone()), answer.json)
}

/// Follows the logs: a screen that is drawn again and again, or a line a minute, until somebody ends it.
fn follow(request: &Request, alarms: Option<&Path>, duration: Option<Duration>) -> Result<Traffic, Failure> {
    let rules = alarms.map(Rules::read_for_log).transpose()?;
    let watcher = Watching { terminal: Terminal::take()?, notes: RefCell::default() };
    let is_screen = std::io::stderr().is_terminal() && !output::is_plain();
    let mut lines = Seldom { last: Instant::now() };
    let traffic = studies::logs::follow(request, duration, rules, &watcher, &mut |live| {
        if is_screen {
            let notes = watcher.notes.borrow().iter().map(|note| format!("{note}\n")).collect::<String>();
            output::redraw(&(report::live_screen(live, output::style()) + &notes));
        } else if lines.is_due() {
            output::say(&report::live_line(live));
        }
    })?;
    Ok(traffic)
}

/// Whoever looks at a screen: notes stay on it below the figures.
struct Watching {
    terminal: Terminal,
    notes: RefCell<VecDeque<String>>,
}

/// So many notes stay on the screen.
const MOST_NOTES: usize = 4;

impl Console for Watching {
    fn show(&self, event: Event<'_>) {
        self.terminal.show(event);
    }

    fn note(&self, said: &str) {
        let mut notes = self.notes.borrow_mut();
        let line = report::clean(said);
        // What is said again and again stands once, or it would take the place of what was said once.
        notes.retain(|note| *note != line);
        notes.push_back(line);
        if notes.len() > MOST_NOTES {
            notes.pop_front();
        }
        self.terminal.note(said);
    }

    fn next(&self, longest: Duration) -> Option<Interrupt> {
        self.terminal.next(longest)
    }

    fn has_come(&self) -> bool {
        self.terminal.has_come()
    }
}

/// What is told once a minute.
struct Seldom {
    last: Instant,
}

impl Seldom {
    fn is_due(&mut self) -> bool {
        // The intervals that are told are a little longer than a sixth of a minute.
        let is_due = self.last.elapsed() >= Duration::from_secs(59);
        if is_due {
            self.last = Instant::now();
        }
        is_due
    }
}

fn show(traffic: &Traffic, file: Option<(Form, PathBuf)>, as_json: bool) -> Result<u8, Failure> {
    if let Some((form, file)) = file {
        form.write(traffic, &file)?;
    }
    output::document(traffic, as_json, |traffic| report::text(&Document::of(traffic), &output::style()))?;
    Ok(code_of(&report::traffic_conclusion(traffic)))
}

/// What a question selected: an answer, and no finding.
fn tell(selected: &Selected, as_json: bool) -> Result<u8, Failure> {
    output::document(selected, as_json, |selected| report::selected(selected, output::style()))?;
    Ok(0)
}

/// A crawler's name and the file of its ranges; without a name where the file says it.
fn named(text: &str) -> (Option<String>, PathBuf) {
    match text.split_once('=') {
        Some((name, file)) if !name.is_empty() && !name.contains('/') => (Some(name.into()), file.into()),
        _ => (None, text.into()),
    }
}
