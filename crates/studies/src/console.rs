//! How a study speaks to whoever started it, and hears from them: what is being done, notes, and requests to end.

use record::{Progress, Recorder};
use std::time::{Duration, Instant};

/// Often enough to look alive, seldom enough to cost nothing.
const INTERVAL: Duration = Duration::from_millis(200);

/// A request to end, from a terminal or from another process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupt {
    /// The signal's number.
    pub signal: i32,
    /// Who else got it.
    pub reach: Reach,
}

/// Who got a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// A terminal sent it to all programs in front of it, the client included.
    EveryoneInFront,
    /// It was sent to us; whether to the client too is not known.
    Us,
}

/// What is being done just now.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// Something new; its time begins now.
    Begun(&'a str),
    /// A part of what was begun.
    Part(&'a str),
    /// A recording goes on.
    Recording {
        /// What is recorded.
        doing: &'a str,
        /// How far it has got.
        progress: Progress,
        /// When it ends by itself, counted from its beginning.
        longest: Option<Duration>,
    },
    /// What was begun is over.
    Over,
}

/// Whoever started a study.
pub trait Console {
    /// Shows what is being done.
    fn show(&self, event: Event<'_>);

    /// Says one line that is to stay.
    fn note(&self, line: &str);

    /// The next request to end, waiting for it at most so long.
    fn next(&self, longest: Duration) -> Option<Interrupt>;

    /// Whether any has come so far.
    fn has_come(&self) -> bool;
}

/// Something that takes a while. It is over when this is dropped. There is one at a time.
pub struct Activity<'a> {
    console: &'a dyn Console,
    shown: Instant,
}

impl<'a> Activity<'a> {
    /// Begins it.
    pub fn of(console: &'a dyn Console, what: &str) -> Activity<'a> {
        console.show(Event::Begun(what));
        Activity { console, shown: Instant::now() }
    }

    /// Shows a part of it.
    pub fn say(&self, what: &str) {
        self.console.show(Event::Part(what));
    }

    /// Turns to something else; its time begins anew.
    pub fn turn_to(&mut self, what: &str) {
        self.console.show(Event::Begun(what));
    }

    /// Shows how far a recording has got, where the last time was long enough ago.
    pub fn recording(&mut self, doing: &str, recorder: &Recorder, longest: Option<Duration>) {
        if self.shown.elapsed() >= INTERVAL {
            self.shown = Instant::now();
            self.console.show(Event::Recording { doing, progress: recorder.progress(), longest });
        }
    }
}

impl Drop for Activity<'_> {
    fn drop(&mut self) {
        self.console.show(Event::Over);
    }
}
