//! What `attach` is asked.

use super::case_folder_without_names;
use crate::arguments::AttachArguments;
use fail::Failure;
use lab::engine::Kind;
use studies::Limits;
use studies::attach::{DURATION, Request, command_line, listening_on, running};

/// Finds the process.
pub fn request(typed: &AttachArguments) -> Result<Request, Failure> {
    let pid = match typed.port {
        Some(port) => listening_on(port)?,
        None => running(typed.pid.unwrap_or_default())?,
    };
    let duration = typed.duration.unwrap_or(DURATION);
    let (command, names) = (command_line(pid), typed.keep_names.into());
    Ok(Request {
        pid,
        limits: Limits { duration: Some(duration), requests: typed.requests },
        budget: (!typed.no_prove).then_some(typed.budget.unwrap_or(Kind::Attach.budget())),
        folder: case_folder_without_names(typed.folder.as_deref(), &command, names)?,
        names,
        command,
        options: record::Options {
            sampling_hertz: typed.sampling_hertz.unwrap_or_else(|| record::usual_hertz(Some(duration))),
            event_limit: record::ATTACHED_EVENTS,
            overhead: Some(typed.overhead),
            duration: Some(duration),
            counts_requests: typed.requests.is_some(),
        },
        reading: diagnose::Options { all: typed.answer.all },
    })
}
