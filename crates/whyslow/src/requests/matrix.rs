//! What `matrix` is asked.

use super::{case_folder, subject, world};
use crate::arguments::MatrixArguments;
use crate::fail::Failure;
use lab::engine::Kind;
use std::collections::HashSet;
use studies::matrix::{Libraries, Request};

/// Works out what was meant, and how the libraries are built.
pub fn request(mut typed: MatrixArguments) -> Result<Request, Failure> {
    let world = world(&typed.world)?;
    let subject = subject(&world, &typed.command, typed.server.as_ref(), &typed.keeping)?;
    let mut seen = HashSet::new();
    typed.tries.retain(|one| seen.insert(one.clone()));
    Ok(Request {
        libraries: Libraries::find(&typed.library, &typed.with, &typed.sources)?,
        subject,
        world,
        end: typed.of,
        metrics: typed.metric,
        tries: typed.tries,
        budget: typed.budget.unwrap_or(Kind::Matrix.budget()),
        folder: case_folder(typed.keeping.folder.as_deref(), &typed.command)?,
    })
}
