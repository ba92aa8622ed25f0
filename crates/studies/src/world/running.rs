//! A command in a world, as a trial would run it: its input, outputs and signals passed through.

use crate::{Console, Reach, StudyError};
use lab::worlds::Ready;
use record::{Ended, Program, User};
use std::ffi::OsString;
use std::time::Duration;

/// How often is looked whether it has ended: short commands are many.
const TURN: Duration = Duration::from_millis(5);

/// Runs the command as a user, or as who we are: how it ended.
///
/// # Errors
/// Where it cannot be started.
pub fn run(ready: &Ready, command: &[String], user: Option<User>, console: &dyn Console) -> Result<Ended, StudyError> {
    let world = ready.world(&lab::World::default(), lab::End::Client, &[]);
    let variable = |(name, value): (String, Option<String>)| (OsString::from(name), value.map(OsString::from));
    let program = Program {
        arguments: command.to_vec(),
        user,
        environment: world.environment.into_iter().map(variable).collect(),
        folder: world.folder,
        root: Some(ready.root(&[])),
        ..Program::default()
    };
    let mut running = program.hold()?.release()?;
    loop {
        if let Some(ended) = running.poll()? {
            return Ok(ended);
        }
        // What a terminal sends has reached the command already.
        if let Some(interrupt) = console.next(TURN)
            && interrupt.reach == Reach::Us
        {
            running.signal(interrupt.signal);
        }
    }
}
