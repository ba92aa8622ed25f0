//! `whyslow report CASE`: says again what a case means, here or on another machine, or exports it.

use super::{answer, compare, sweep};
use crate::arguments::{Format, ReportArguments};
use crate::fail::Failure;
use crate::{output, page};
use case::{Answer, Case, Comparison, Recording, Sweep};
use report::export;
use report::page::Told;

/// Reads the case and prints what is asked for. The case is not changed.
pub fn report(typed: &ReportArguments) -> Result<u8, Failure> {
    let case = Case::open(&typed.case)?;
    if !case.manifest().closed {
        output::say("this recording was cut short; its last rows may be missing");
    }
    let format = if typed.answer.json { Format::Json } else { typed.format };
    match format {
        Format::Text | Format::Json if typed.file.is_none() => show(&case, typed, format == Format::Json),
        _ => export(&case, typed, format),
    }
}

/// Prints the text, or the JSON.
fn show(case: &Case, typed: &ReportArguments, as_json: bool) -> Result<u8, Failure> {
    if let Some(comparison) = case.kept(compare::FILE)? {
        return compare::show(&comparison, as_json);
    }
    if let Some(sweep) = case.kept(sweep::FILE)? {
        return sweep::show(&sweep, as_json);
    }
    let answering = crate::arguments::AnswerArguments { json: as_json, ..typed.answer };
    answer::show(&answer::read(case, answering)?, answering)
}

/// Writes the case in another form.
fn export(case: &Case, typed: &ReportArguments, format: Format) -> Result<u8, Failure> {
    let recording = Recording::load(case)?;
    let contents = match format {
        Format::Pcapng => export::pcapng(&recording),
        Format::FirefoxProfile => export::firefox_profile(&recording).into_bytes(),
        Format::Speedscope => export::speedscope(&recording).into_bytes(),
        Format::Html => page::of_case(case, &answer::read(case, typed.answer)?, &recording)?.into_bytes(),
        Format::Text | Format::Json | Format::Markdown => told(case, typed, format)?.into_bytes(),
    };
    output::write(&contents, typed.file.as_deref())?;
    Ok(0)
}

/// What is told, as text.
fn told(case: &Case, typed: &ReportArguments, format: Format) -> Result<String, Failure> {
    let (comparison, sweep) = (case.kept::<Comparison>(compare::FILE)?, case.kept::<Sweep>(sweep::FILE)?);
    let answer: Answer;
    let told = match (&comparison, &sweep) {
        (Some(comparison), _) => Told::Comparison(comparison),
        (None, Some(sweep)) => Told::Sweep(sweep),
        (None, None) => {
            answer = answer::read(case, typed.answer)?;
            Told::Answer(&answer)
        }
    };
    let json = |text: serde_json::Result<String>| {
        text.map(|text| text + "\n").map_err(|error| Failure::internal(&error.to_string()))
    };
    let style = report::Style::default();
    match (format, told) {
        (Format::Json, Told::Answer(answer)) => json(serde_json::to_string_pretty(answer)),
        (Format::Json, Told::Comparison(comparison)) => json(serde_json::to_string_pretty(comparison)),
        (Format::Json, Told::Sweep(sweep)) => json(serde_json::to_string_pretty(sweep)),
        (Format::Text, Told::Answer(answer)) => Ok(report::terminal(answer, &style)),
        (Format::Text, Told::Comparison(comparison)) => Ok(report::comparison(comparison, &style)),
        (Format::Text, Told::Sweep(sweep)) => Ok(report::sweep(sweep, &style)),
        _ => Ok(export::markdown(&told)),
    }
}
