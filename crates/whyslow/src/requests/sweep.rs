//! What `sweep` is asked.

use super::{case_folder, subject, world};
use crate::arguments::SweepArguments;
use crate::fail::Failure;
use lab::engine::Kind;
use studies::sweep::Request;

/// Works out what was meant.
pub fn request(typed: SweepArguments) -> Result<Request, Failure> {
    let world = world(&typed.world)?;
    let request = Request {
        vary: typed.vary,
        subject: subject(&world, &typed.command, typed.server.as_ref(), &typed.keeping)?,
        world,
        budget: typed.budget.unwrap_or(Kind::Sweep.budget()),
        metric: typed.metric,
        folder: case_folder(typed.keeping.folder.as_deref(), &typed.command)?,
        command: typed.command,
    };
    request.check()?;
    Ok(request)
}
