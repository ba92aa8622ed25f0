//! What `trial` is asked.

use super::{case_folder, may_have};
use crate::arguments::TrialArguments;
use crate::invoker::subject_user;
use fail::Failure;
use lab::Subject;
use studies::trial::{self, Request};

/// Reads the trial's file.
pub fn request(typed: TrialArguments) -> Result<Request, Failure> {
    let mut spec = trial::read(&typed.spec)?;
    spec.world = may_have(spec.world)?;
    let server = Some(spec.server.as_slice()).filter(|words| !words.is_empty());
    let subject = Subject::within(&spec.world, &spec.command, server)?;
    let (user, input) = (subject_user(typed.keeping.user)?, lab::input_again().unwrap_or_default());
    let folder = case_folder(typed.keeping.folder.as_deref(), &spec.command)?;
    Ok(Request { file: typed.spec, subject: Subject { user, input, ..subject }, spec, folder })
}
