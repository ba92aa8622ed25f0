//! What `sweep` is asked.

use super::{case_folder_without_names, subject, world};
use crate::arguments::SweepArguments;
use crate::fail::Failure;
use lab::Subject;
use lab::engine::Kind;
use studies::sweep::Request;

/// Works out what was meant.
pub fn request(typed: SweepArguments) -> Result<Request, Failure> {
    let world = world(&typed.world)?;
    let names = typed.keep_names.into();
    let subject = subject(&world, &typed.command, typed.server.as_ref(), &typed.keeping)?;
    let request = Request {
        vary: typed.vary,
        subject: Subject { names, ..subject },
        world,
        budget: typed.budget.unwrap_or(Kind::Sweep.budget()),
        metric: typed.metric,
        folder: case_folder_without_names(typed.keeping.folder.as_deref(), &typed.command, names)?,
        command: typed.command,
    };
    request.check()?;
    Ok(request)
}
