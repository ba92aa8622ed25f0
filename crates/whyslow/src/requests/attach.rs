//! What a typed `attach` means.

use crate::arguments::AttachArguments;
use crate::fail::Failure;
use crate::invoker::Invoker;
use crate::typed;
use lab::engine::Kind;
use studies::Limits;
use studies::attach::{DURATION, Request, command_line, listening_on, running};

/// Reads what was typed, and finds the process.
pub fn request(typed: &AttachArguments, invoker: &Invoker) -> Result<Request, Failure> {
    let pid = match typed.port {
        Some(port) => listening_on(port)?,
        None => running(typed.pid.unwrap_or_default())?,
    };
    let limits = Limits {
        duration: Some(typed::duration(typed.duration.as_deref())?.unwrap_or(DURATION)),
        requests: typed.requests,
    };
    let budget = typed::budget(typed.budget.as_deref(), Kind::Attach)?;
    let command = command_line(pid);
    Ok(Request {
        pid,
        limits,
        budget: (!typed.no_prove).then_some(budget),
        folder: typed::case_folder(typed.folder.as_deref(), &command, invoker)?,
        command,
        options: record::Options { sampling_hertz: typed.sampling_hertz, ..record::Options::default() },
        reading: diagnose::Options { all: typed.answer.all },
    })
}
