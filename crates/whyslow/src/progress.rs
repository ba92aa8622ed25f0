//! What is being done just now, for how long, and what is left of it: a line that renews itself on a terminal, nothing
//! elsewhere.

use crate::output;
use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use std::cell::Cell;
use std::fmt::Write;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Often enough to look alive, seldom enough to cost nothing.
const INTERVAL: Duration = Duration::from_millis(200);
/// Where a line cannot renew itself, a new one is written this seldom.
const SELDOM: Duration = Duration::from_secs(5);

/// The line. It goes when this is dropped. There is one at a time.
pub struct Progress {
    shown: Shown,
    begun: Instant,
}

/// How.
enum Shown {
    /// On one line of the terminal, which is written again and again.
    Renewed(ProgressBar),
    /// A line at a time, on a terminal that is to get no escape sequences; when the last was written.
    Plain(Cell<Option<Instant>>),
    /// Not at all: nobody is looking.
    Nowhere,
}

impl Progress {
    /// Begins to say what is being done.
    pub fn of(what: &str) -> Progress {
        let shown = match (std::io::stderr().is_terminal(), output::is_plain()) {
            (false, _) => Shown::Nowhere,
            (true, true) => Shown::Plain(Cell::new(None)),
            (true, false) => Shown::Renewed(renewed()),
        };
        if let Shown::Renewed(line) = &shown {
            output::keep_clear_of(Some(line.clone()));
        }
        let progress = Progress { shown, begun: Instant::now() };
        progress.say(what);
        progress
    }

    /// Says how far a recording has got; `doing` is what is recorded. Where it ends by itself after `longest`, what is left
    /// of that is said too.
    pub fn recording(&self, doing: &str, progress: record::Progress, longest: Option<Duration>) {
        let left = longest.map(|longest| longest.saturating_sub(self.begun.elapsed()));
        let record::Progress { requests, events, lost } = progress;
        self.say(&report::recording(doing, [requests, events, lost], left));
    }

    /// Says what is being done, as a part of what was begun.
    pub fn say(&self, what: &str) {
        let what = report::clean(what);
        match &self.shown {
            Shown::Renewed(line) => line.set_message(what),
            Shown::Plain(last) if last.get().is_none_or(|last| last.elapsed() >= SELDOM) => {
                last.set(Some(Instant::now()));
                output::say(&format!("{what} ({} s)", self.begun.elapsed().as_secs()));
            }
            Shown::Plain(_) | Shown::Nowhere => {}
        }
    }

    /// Says that something else is being done now; its time begins anew.
    pub fn turn_to(&mut self, what: &str) {
        self.begun = Instant::now();
        if let Shown::Renewed(line) = &self.shown {
            line.reset_elapsed();
        }
        self.say(what);
    }
}

/// A line that is as long as the terminal is wide, at most: the time it has taken, and what is being done.
fn renewed() -> ProgressBar {
    let style = ProgressStyle::with_template("{spent}{wide_msg}").unwrap_or_else(|_| ProgressStyle::default_spinner());
    let style = style.with_key("spent", |state: &ProgressState, out: &mut dyn Write| {
        // What cannot be written on a line of the terminal is missed by nobody.
        let _ = write!(out, "{}", spent(state.elapsed()));
    });
    let line = ProgressBar::new_spinner().with_style(style);
    line.enable_steady_tick(INTERVAL);
    line
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Shown::Renewed(line) = &self.shown {
            output::keep_clear_of(None);
            line.finish_and_clear();
        }
    }
}

/// How long it has taken, before the words: nothing for the first second.
fn spent(elapsed: Duration) -> String {
    if elapsed < Duration::from_secs(1) { String::new() } else { format!("{} s: ", elapsed.as_secs()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_said_from_the_first_second_on() {
        assert_eq!(spent(Duration::from_millis(999)), "");
        assert_eq!(spent(Duration::from_millis(12_345)), "12 s: ");
    }
}
