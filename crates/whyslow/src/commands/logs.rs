//! `whyslow logs FILES...`: who asks for what, since when, and what turning a part of it away would save.

use crate::arguments::{LogsAction, LogsArguments, LogsMergeArguments};
use crate::documents::code_of;
use crate::fail::Failure;
use crate::form::Form;
use crate::output;
use crate::progress::Progress;
use case::Traffic;
use report::Document;
use std::path::PathBuf;
use studies::logs::Request;

/// Reads the logs, and says what they come down to.
pub fn logs(typed: LogsArguments) -> Result<u8, Failure> {
    if let Some(LogsAction::Merge(typed)) = &typed.action {
        return merge(typed);
    }
    let form = typed.file.as_deref().map(Form::of).transpose()?;
    let ranges = typed.ranges.iter().map(|text| named(text)).collect();
    let progress = Progress::of("reading logs");
    let request = Request { paths: typed.paths, format: typed.format, ranges, cube: typed.cube };
    let traffic = studies::logs::logs(&request)?;
    drop(progress);
    show(&traffic, form.zip(typed.file), typed.json)
}

/// Puts cubes together, and says what they come down to.
fn merge(typed: &LogsMergeArguments) -> Result<u8, Failure> {
    let form = typed.file.as_deref().map(Form::of).transpose()?;
    let progress = Progress::of("reading cubes");
    let traffic = studies::logs::merge(&typed.cubes, typed.cube.as_deref())?;
    drop(progress);
    show(&traffic, form.zip(typed.file.clone()), typed.json)
}

fn show(traffic: &Traffic, file: Option<(Form, PathBuf)>, as_json: bool) -> Result<u8, Failure> {
    if let Some((form, file)) = file {
        form.write(traffic, &file)?;
    }
    output::document(traffic, as_json, |traffic| report::text(&Document::of(traffic), &output::style()))?;
    Ok(code_of(&report::traffic_conclusion(traffic)))
}

/// A crawler's name and the file of its ranges; without a name where the file says it.
fn named(text: &str) -> (Option<String>, PathBuf) {
    match text.split_once('=') {
        Some((name, file)) if !name.is_empty() && !name.contains('/') => (Some(name.into()), file.into()),
        _ => (None, text.into()),
    }
}
