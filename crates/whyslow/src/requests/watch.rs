//! What `watch` is asked.

use crate::arguments::WatchArguments;
use crate::invoker::Invoker;
use fail::Failure;
use std::path::{Path, PathBuf};
use studies::services::Request;

/// The folder within the state folder.
const HISTORY: &str = "history";

/// Works out what was meant.
pub fn request(typed: &WatchArguments) -> Result<Request, Failure> {
    Ok(Request {
        services: typed.services.clone(),
        every: typed.every,
        history: history(typed.history.as_deref())?,
        counts_calls: typed.calls,
        records: typed.record_on_change,
        duration: typed.duration,
        until_recorded: typed.until_recorded,
        describe: report::deviation_sentence,
    })
}

/// The history's folder: the one named, or the user's own.
pub fn history(folder: Option<&Path>) -> Result<PathBuf, Failure> {
    match folder {
        Some(folder) => std::path::absolute(folder).map_err(|error| Failure::output(&error)),
        None => Ok(Invoker::find().state_folder().ok_or_else(Failure::no_home)?.join(HISTORY)),
    }
}
