//! What a typed `sweep` means.

use crate::arguments::SweepArguments;
use crate::fail::Failure;
use crate::invoker::{Invoker, subject_user};
use crate::typed;
use lab::engine::Kind;
use lab::{Subject, Vary};
use studies::sweep::Request;

/// Reads what was typed.
pub fn request(typed: &SweepArguments, invoker: &Invoker) -> Result<Request, Failure> {
    let world = typed::world(&typed.world)?;
    let addresses = typed::addresses(world.link);
    let subject = Subject {
        client: typed::with_addresses(&typed.command, addresses),
        server: typed::server(typed.server.as_deref(), &world)?,
        user: subject_user(typed.keeping.user.as_deref(), invoker)?,
        input: lab::input_again().unwrap_or_default(),
    };
    let request = Request {
        vary: Vary::parse(&typed.vary).map_err(|why| Failure::vary(&why))?,
        command: typed.command.clone(),
        subject,
        world,
        budget: typed::budget(typed.budget.as_deref(), Kind::Sweep)?,
        metric: typed::metric(typed.metric.as_deref())?,
        folder: typed::case_folder(typed.keeping.folder.as_deref(), &typed.command, invoker)?,
    };
    request.check()?;
    Ok(request)
}
