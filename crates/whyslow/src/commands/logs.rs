//! `whyslow logs FILES...`: who asks for what, since when, and what turning a part of it away would save.

use crate::arguments::LogsArguments;
use crate::documents::code_of;
use crate::fail::Failure;
use crate::form::Form;
use crate::output;
use crate::progress::Progress;
use report::Document;
use std::path::PathBuf;
use studies::logs::Request;

/// Reads the logs, and says what they come down to.
pub fn logs(typed: LogsArguments) -> Result<u8, Failure> {
    let form = typed.file.as_deref().map(Form::of).transpose()?;
    let ranges = typed.ranges.iter().map(|text| named(text)).collect();
    let progress = Progress::of("reading logs");
    let traffic = studies::logs::logs(&Request { paths: typed.paths, format: typed.format, ranges })?;
    drop(progress);
    if let (Some(form), Some(file)) = (form, &typed.file) {
        form.write(&traffic, file)?;
    }
    output::document(&traffic, typed.json, |traffic| report::text(&Document::of(traffic), &output::style()))?;
    Ok(code_of(&report::traffic_conclusion(&traffic)))
}

/// A crawler's name and the file of its ranges; without a name where the file says it.
fn named(text: &str) -> (Option<String>, PathBuf) {
    match text.split_once('=') {
        Some((name, file)) if !name.is_empty() && !name.contains('/') => (Some(name.into()), file.into()),
        _ => (None, text.into()),
    }
}
