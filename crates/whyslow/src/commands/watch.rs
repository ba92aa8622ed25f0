//! `whyslow watch`: services over time.

use crate::arguments::{WatchAction, WatchArguments, WatchShowArguments};
use crate::console::Terminal;
use crate::documents::{self, code_of};
use crate::folder::make_parents;
use crate::requests::{case_folder, watch as requests};
use crate::{output, progress};
use case::{Deviation, Watched};
use fail::Failure;
use report::{Document, deviation_sentence, watched_sentence};
use std::path::PathBuf;
use studies::Done;
use studies::services::{self, Rules, Watcher};

/// Watches, or shows what was watched. 1 where a service is out of line.
pub fn watch(typed: &WatchArguments) -> Result<u8, Failure> {
    if let Some(WatchAction::Show(typed)) = &typed.action {
        return show(typed);
    }
    let request = requests::request(typed)?;
    let rules = typed.alarms.as_deref().map(Rules::read).transpose()?;
    if let Some(folder) = &typed.folder {
        make_parents(&case_folder(Some(folder), &[])?)?;
    }
    let terminal = Terminal::take()?;
    output::say(&match request.services.len() {
        1 => format!("watching {} every {} s", request.services[0], request.every.as_secs()),
        count => format!("watching {count} services every {} s", request.every.as_secs()),
    });
    let mut told = Told { folder: typed.folder.clone() };
    let watched = services::watch(&request, rules, &terminal, &mut told)?;
    drop(terminal);
    print(watched, typed.json)
}

fn show(typed: &WatchShowArguments) -> Result<u8, Failure> {
    let progress = progress::Progress::of("reading the history");
    let watched = services::show(&requests::history(typed.history.as_deref())?, typed.since)?;
    drop(progress);
    let watched = Watched { summary: watched_sentence(&watched), ..watched };
    if let Some(file) = &typed.html {
        output::write(report::page(&Document::of(&watched)).as_bytes(), Some(file))?;
    }
    print(watched, typed.json)
}

fn print(watched: Watched, as_json: bool) -> Result<u8, Failure> {
    let watched = Watched { summary: watched_sentence(&watched), ..watched };
    output::document(&watched, as_json, |watched| report::text(&Document::of(watched), &output::style()))?;
    Ok(code_of(&report::watched_conclusion(&watched)))
}

/// Whoever watches at a terminal, or in a log.
struct Told {
    /// Where the first case goes.
    folder: Option<PathBuf>,
}

impl Watcher for Told {
    fn deviates(&mut self, deviation: &Deviation) {
        output::say(&deviation_sentence(deviation));
    }

    fn case_folder(&mut self, command: &[String]) -> Option<PathBuf> {
        let folder = case_folder(self.folder.take().as_deref(), command);
        let made = folder.and_then(|folder| make_parents(&folder).map(|()| folder).map_err(Failure::from));
        made.inspect_err(|failure| output::say(&failure.in_a_line())).ok()
    }

    fn keep(&mut self, done: Done) -> case::Document {
        let (document, failed) = documents::keep(done);
        if let Some(failure) = failed {
            output::say(&failure.in_a_line());
        }
        if let case::Document::Answer(answer) = &document {
            output::say(&format!("{} Case: {}", answer.summary, answer.case));
        }
        document
    }
}
