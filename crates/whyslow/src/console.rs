//! The terminal as a study sees it: progress and notes go to standard error, signals come from it.

use crate::interrupts::Interrupts;
use crate::output;
use crate::progress::Progress;
use fail::Failure;
use std::cell::RefCell;
use std::time::Duration;
use studies::{Console, Event, Interrupt};

/// Who started a study.
pub struct Terminal {
    /// Signals, where they are taken; else they end us.
    interrupts: Option<Interrupts>,
    line: RefCell<Option<Progress>>,
}

impl Terminal {
    /// One that takes signals as long as it lives. To be called before any thread is started.
    pub fn take() -> Result<Terminal, Failure> {
        Ok(Terminal { interrupts: Some(Interrupts::take()?), ..Terminal::leaving_signals() })
    }

    /// One that leaves signals as they are, for what has nothing to end.
    pub fn leaving_signals() -> Terminal {
        Terminal { interrupts: None, line: RefCell::default() }
    }
}

impl Console for Terminal {
    fn show(&self, event: Event<'_>) {
        let mut line = self.line.borrow_mut();
        match event {
            Event::Begun(what) => match &mut *line {
                Some(progress) => progress.turn_to(what),
                None => *line = Some(Progress::of(what)),
            },
            Event::Part(what) => line.iter().for_each(|progress| progress.say(what)),
            Event::Recording { doing, progress, longest } => {
                line.iter().for_each(|shown| shown.recording(doing, progress, longest));
            }
            Event::Over => drop(line.take()),
        }
    }

    fn note(&self, line: &str) {
        output::say(line);
    }

    fn next(&self, longest: Duration) -> Option<Interrupt> {
        self.interrupts.as_ref()?.next(longest)
    }

    fn has_come(&self) -> bool {
        self.interrupts.as_ref().is_some_and(Interrupts::has_come)
    }
}
