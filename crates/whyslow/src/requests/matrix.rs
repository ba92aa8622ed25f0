//! What `matrix` is asked.

use super::{case_folder_without_names, subject, world};
use crate::arguments::MatrixArguments;
use fail::Failure;
use lab::Subject;
use lab::engine::Kind;
use std::collections::HashSet;
use studies::matrix::{Libraries, Request};

/// Works out what was meant, and how the libraries are built.
pub fn request(mut typed: MatrixArguments) -> Result<Request, Failure> {
    let world = world(&typed.world)?;
    let names = typed.keep_names.into();
    let subject = subject(&world, &typed.command, typed.server.as_ref(), &typed.keeping)?;
    let subject = Subject { names, ..subject };
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
        folder: case_folder_without_names(typed.keeping.folder.as_deref(), &typed.command, names)?,
    })
}
