//! A command in a world, as a trial would run it: its input, outputs and exit status passed through.

use crate::fail::Failure;
use crate::interrupts::{Interrupts, Reach};
use crate::invoker::{Invoker, subject_user};
use lab::worlds::Ready;
use record::{Ended, Program};
use std::ffi::OsString;
use std::time::Duration;

/// How often is looked whether it has ended: short commands are many.
const TURN: Duration = Duration::from_millis(5);
/// What a shell adds to the number of the signal that ended a command.
const SIGNALLED: i32 = 128;

/// Runs the command, and returns its exit status.
pub fn run(ready: &Ready, command: &[String], interrupts: &Interrupts) -> Result<u8, Failure> {
    let world = ready.world(&lab::World::default(), lab::End::Client, &[]);
    let variable = |(name, value): (String, Option<String>)| (OsString::from(name), value.map(OsString::from));
    let program = Program {
        arguments: command.to_vec(),
        user: subject_user(None, &Invoker::find())?,
        environment: world.environment.into_iter().map(variable).collect(),
        folder: world.folder,
        root: Some(ready.root(&[])),
        ..Program::default()
    };
    let mut running = program.hold()?.release()?;
    loop {
        if let Some(ended) = running.poll()? {
            return Ok(status(ended));
        }
        // What a terminal sends has reached the command already.
        if let Some(interrupt) = interrupts.next(TURN)
            && interrupt.reach == Reach::Us
        {
            running.signal(interrupt.signal);
        }
    }
}

fn status(ended: Ended) -> u8 {
    let code = ended.exit.or(ended.signal.map(|signal| SIGNALLED + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(crate::fail::ERROR)
}
