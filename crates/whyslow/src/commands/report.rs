//! `whyslow report CASE`: says again what a case means, here or on another machine, or exports it.

use super::{answer, bisect, compare, matrix, sweep};
use crate::arguments::{Format, ReportArguments};
use crate::fail::Failure;
use crate::{output, page};
use case::{Answer, Bisection, Case, Comparison, Matrix, Recording, Sweep};
use report::export::{self, Known, Span};
use report::page::Told;
use std::io::IsTerminal;
use std::path::Path;

/// Reads the case and prints what is asked for. The case is not changed.
pub fn report(typed: &ReportArguments) -> Result<u8, Failure> {
    let format = match (typed.format, typed.answer.json) {
        (Format::Text | Format::Json, true) => Format::Json,
        (other, true) => return Err(Failure::two_formats(word(other))),
        (format, false) => format,
    };
    let case = Case::open(&typed.case)?;
    if !case.manifest().closed {
        output::say("this recording was cut short; its last rows may be missing");
    }
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
    if let Some(bisection) = case.kept(bisect::FILE)? {
        return bisect::show(&bisection, as_json);
    }
    if let Some(matrix) = case.kept(matrix::FILE)? {
        return matrix::show(&matrix, as_json);
    }
    if let Some(sweep) = case.kept(sweep::FILE)? {
        return sweep::show(&sweep, as_json);
    }
    let answering = crate::arguments::AnswerArguments { json: as_json, ..typed.answer };
    answer::show(&answer::read(case, answering)?, answering)
}

/// Writes the case in another form.
fn export(case: &Case, typed: &ReportArguments, format: Format) -> Result<u8, Failure> {
    let contents = match format {
        Format::Pcapng | Format::FirefoxProfile | Format::Speedscope => of_recording(case, typed, format)?,
        Format::Html => {
            let recording = Recording::load(case)?;
            page::of_case(case, &answer::read(case, typed.answer)?, &recording)?.into_bytes()
        }
        Format::Text | Format::Json | Format::Markdown => told(case, typed, format)?.into_bytes(),
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
    Known { exchanges: spans.collect(), call_name: diagnose::call_name }
}

/// The last names of the recorded cases in a comparison or a sweep; none for a run.
fn recorded_inside(case: &Case) -> Result<Vec<String>, Failure> {
    let comparison: Option<Comparison> = case.kept(compare::FILE)?;
    let sweep: Option<Sweep> = case.kept(sweep::FILE)?;
    let matrix: Option<Matrix> = case.kept(matrix::FILE)?;
    let of_comparison = comparison.iter().flat_map(|one| one.a.cases.iter().chain(&one.b.cases));
    let bisection: Option<Bisection> = case.kept(bisect::FILE)?;
    let of_bisection = bisection.iter().flat_map(|_| ["good-1", "bad-1"]).map(Path::new);
    let of_sweep = sweep.iter().flat_map(|one| one.regimes.iter().map(|regime| &regime.case));
    let of_matrix = matrix.iter().flat_map(|one| &one.versions).map(|version| Path::new(&version.version));
    let others = of_bisection.chain(of_matrix);
    let names = of_comparison.chain(of_sweep).map(Path::new).chain(others).filter_map(Path::file_name);
    let names = names.map(|name| name.to_string_lossy().into_owned()).filter(|name| case.folder().join(name).is_dir());
    let names = names.collect::<Vec<_>>();
    let has_none =
        names.is_empty() && (comparison.is_some() || sweep.is_some() || bisection.is_some() || matrix.is_some());
    if has_none { Err(Failure::nothing_recorded(case.folder())) } else { Ok(names) }
}

/// What is told, as text.
fn told(case: &Case, typed: &ReportArguments, format: Format) -> Result<String, Failure> {
    let (comparison, sweep) = (case.kept::<Comparison>(compare::FILE)?, case.kept::<Sweep>(sweep::FILE)?);
    let bisection = case.kept::<Bisection>(bisect::FILE)?;
    let matrix = case.kept::<Matrix>(matrix::FILE)?;
    let answer: Answer;
    let told = match (&comparison, &sweep, &bisection, &matrix) {
        (Some(comparison), ..) => Told::Comparison(comparison),
        (None, Some(sweep), ..) => Told::Sweep(sweep),
        (None, None, Some(bisection), _) => Told::Bisection(bisection),
        (None, None, None, Some(matrix)) => Told::Matrix(matrix),
        (None, None, None, None) => {
            answer = answer::read(case, typed.answer)?;
            Told::Answer(&answer)
        }
    };
    match format {
        Format::Json => json(&told),
        Format::Text => Ok(text(&told)),
        _ => Ok(export::markdown(&told, case.manifest())),
    }
}

fn json(told: &Told) -> Result<String, Failure> {
    match told {
        Told::Answer(answer) => output::json(answer),
        Told::Comparison(comparison) => output::json(comparison),
        Told::Sweep(sweep) => output::json(sweep),
        Told::Bisection(bisection) => output::json(bisection),
        Told::Matrix(matrix) => output::json(matrix),
    }
}

fn text(told: &Told) -> String {
    let style = report::Style::default();
    match told {
        Told::Answer(answer) => report::terminal(answer, &style),
        Told::Comparison(comparison) => report::comparison(comparison, &style),
        Told::Sweep(sweep) => report::sweep(sweep, &style),
        Told::Bisection(bisection) => report::bisection(bisection, &style),
        Told::Matrix(matrix) => report::matrix(matrix, &style),
    }
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
