//! `whyslow report CASE`: says again what a case means, here or on another machine, or exports it.

use crate::arguments::{Format, ReportArguments};
use crate::console::Terminal;
use crate::{documents, output};
use case::{Case, Document, Recording};
use clap::ValueEnum;
use fail::Failure;
use report::export::{self, Known, Span};
use std::io::IsTerminal;
use studies::views;

/// Reads the case and prints what is asked for. The case is not changed.
pub fn report(typed: &ReportArguments) -> Result<u8, Failure> {
    let format = match (typed.format, typed.answer.json) {
        (Format::Text | Format::Json, true) => Format::Json,
        (other, true) => return Err(Failure::two_formats(&word(other))),
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
    let mut document = studies::report::read(case, reading, &Terminal::leaving_signals())?;
    if let Document::Answer(answer) = &mut document {
        answer.page = documents::kept_page(case);
    }
    Ok(document)
}

/// Writes the case in another form.
fn export(case: &Case, typed: &ReportArguments, format: Format) -> Result<u8, Failure> {
    let contents = match format {
        Format::Pcapng | Format::FirefoxProfile | Format::Speedscope => of_recording(case, typed, format)?,
        _ => of_document(&read(case, typed)?.as_kept(case), case, format)?.into_bytes(),
    };
    output::write(&contents, typed.file.as_deref())?;
    Ok(0)
}

fn of_document(document: &Document, case: &Case, format: Format) -> Result<String, Failure> {
    let shown = report::Document::of(document);
    Ok(match format {
        Format::Html => report::page(&shown.with(views::of(document, case)?)),
        Format::Json => output::json(document)?,
        Format::Markdown => report::markdown(&report::Document { manifest: Some(case.manifest()), ..shown }),
        _ => report::text(&shown, &report::Style::default()),
    })
}

/// What is made from one recording, and from what a diagnosis knows of it.
fn of_recording(case: &Case, typed: &ReportArguments, format: Format) -> Result<Vec<u8>, Failure> {
    let name = &word(format);
    let inside = studies::report::recorded_inside(case)?;
    if !inside.is_empty() {
        return Err(Failure::several_recordings(&typed.case, &inside, name));
    }
    if format == Format::Pcapng && typed.file.is_none() && std::io::stdout().is_terminal() {
        return Err(Failure::binary_on_terminal(&typed.case, name));
    }
    let recording = Recording::load(case)?;
    if format == Format::Speedscope && recording.samples.is_empty() {
        let why = "the recording has no CPU samples: it was made with --hz 0, or the program hardly ran";
        return Err(Failure::not_recorded(&typed.case, &format!("nothing to export as {name}"), why));
    }
    Ok(match format {
        Format::Pcapng => export::pcapng(&recording, &known(&recording, false)),
        Format::FirefoxProfile => export::firefox_profile(&recording, &known(&recording, true)).into_bytes(),
        _ => export::speedscope(&recording).into_bytes(),
    })
}

/// What a diagnosis knows; the exchanges only where they are wanted.
fn known(recording: &Recording, with_exchanges: bool) -> Known {
    let analysis = with_exchanges.then(|| diagnose::Analysis::new(recording));
    let spans = analysis.iter().flat_map(diagnose::Analysis::exchanges).filter_map(|exchange| {
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

/// A format as it is typed.
fn word(format: Format) -> String {
    format.to_possible_value().map(|value| value.get_name().to_string()).unwrap_or_default()
}
