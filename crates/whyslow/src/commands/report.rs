//! `whyslow report CASE`: says again what a case means, here or on another machine, or exports it.

use crate::arguments::{Format, ReportArguments};
use crate::console::Terminal;
use crate::fail::Failure;
use crate::invoker::Invoker;
use crate::{documents, output};
use case::{Case, Recording};
use report::export::{self, Known, Span};
use std::io::IsTerminal;
use studies::{Document, views};

/// Reads the case and prints what is asked for. The case is not changed.
pub fn report(typed: &ReportArguments) -> Result<u8, Failure> {
    let format = match (typed.format, typed.answer.json) {
        (Format::Text | Format::Json, true) => Format::Json,
        (other, true) => return Err(Failure::two_formats(word(other))),
        (format, false) => format,
    };
    let case = Case::open(&typed.case)?;
    if !case.manifest().closed {
        output::say("this recording was cut short; the last rows may be missing");
    }
    match format {
        Format::Text | Format::Json if typed.file.is_none() => {
            documents::show(&read(&case, typed)?, format == Format::Json)
        }
        _ => export(&case, typed, format),
    }
}

/// What the case means.
fn read(case: &Case, typed: &ReportArguments) -> Result<Document, Failure> {
    let reading = diagnose::Options { all: typed.answer.all };
    let mut document = studies::report::read(case, reading, &Terminal::leaving_signals(&Invoker::find()))?;
    if let Document::Answer(answer) = &mut document {
        answer.page = documents::kept_page(case);
    }
    Ok(document)
}

/// Writes the case in another form.
fn export(case: &Case, typed: &ReportArguments, format: Format) -> Result<u8, Failure> {
    let contents = match format {
        Format::Pcapng | Format::FirefoxProfile | Format::Speedscope => of_recording(case, typed, format)?,
        Format::Html => {
            let document = read(case, typed)?;
            documents::page(&document, views::of(&document, case)?).into_bytes()
        }
        Format::Json => output::json(&read(case, typed)?)?.into_bytes(),
        Format::Text => documents::text(&read(case, typed)?, &report::Style::default()).into_bytes(),
        Format::Markdown => {
            let read = read(case, typed)?;
            let document = report::Document::of(documents::body(&read));
            report::markdown(&report::Document { manifest: Some(case.manifest()), ..document }).into_bytes()
        }
    };
    output::write(&contents, typed.file.as_deref())?;
    Ok(0)
}

/// What is made from one recording, and from what a diagnosis knows of it.
fn of_recording(case: &Case, typed: &ReportArguments, format: Format) -> Result<Vec<u8>, Failure> {
    let name = word(format);
    let inside = recorded_inside(case)?;
    if !inside.is_empty() {
        return Err(Failure::several_recordings(&typed.case, &inside, name));
    }
    if format == Format::Pcapng && typed.file.is_none() && std::io::stdout().is_terminal() {
        return Err(Failure::binary_on_terminal(&typed.case, name));
    }
    let recording = Recording::load(case)?;
    if format == Format::Speedscope && recording.samples.is_empty() {
        return Err(Failure::no_samples(&typed.case, name));
    }
    Ok(match format {
        Format::Pcapng => export::pcapng(&recording, &known(&recording, false)),
        Format::FirefoxProfile => export::firefox_profile(&recording, &known(&recording, true)).into_bytes(),
        _ => export::speedscope(&recording).into_bytes(),
    })
}

/// What a diagnosis knows; the exchanges only where they are wanted.
fn known(recording: &Recording, with_exchanges: bool) -> Known {
    let study = with_exchanges.then(|| diagnose::study(recording, "", &diagnose::Options::default()));
    let spans = study.iter().flat_map(|study| &study.exchanges).filter_map(|exchange| {
        Some(Span {
            connection: recording.connections.get(exchange.connection)?.id,
            start: case::Nanos(exchange.start),
            end: case::Nanos(exchange.end),
            bytes: exchange.bytes,
            answered: exchange.answered,
        })
    });
    Known { exchanges: spans.collect(), call_name: case::syscall::name }
}

/// The last names of the recorded cases in a comparison or a sweep; none for a run.
fn recorded_inside(case: &Case) -> Result<Vec<String>, Failure> {
    let Some(document) = Document::kept(case)? else { return Ok(Vec::new()) };
    let names = studies::report::recorded_inside(&document, case);
    if names.is_empty() { Err(Failure::nothing_recorded(case.folder())) } else { Ok(names) }
}

/// A format as it is typed.
fn word(format: Format) -> &'static str {
    match format {
        Format::Text => "text",
        Format::Html => "html",
        Format::Json => "json",
        Format::Markdown => "markdown",
        Format::Pcapng => "pcapng",
        Format::FirefoxProfile => "firefox-profile",
        Format::Speedscope => "speedscope",
    }
}
