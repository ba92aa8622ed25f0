//! `whyslow steps FILE`, `whyslow steps --run CMD`: levels of a series over time and the steps between them.

use crate::arguments::StepsArguments;
use crate::console::Terminal;
use crate::documents::code_of;
use crate::form::Form;
use crate::output;
use fail::Failure;
use import::Shape;
use report::Document;
use studies::steps::{Drive, Request, Source};

/// Reads or drives the series, and says what it shows.
pub fn steps(typed: StepsArguments) -> Result<u8, Failure> {
    let form = typed.output.as_deref().map(Form::of).transpose()?;
    let shape = match (typed.pattern, typed.column) {
        (Some(pattern), _) => pattern,
        (None, Some(values)) => Shape::Column { values, times: typed.times },
        (None, None) => Shape::Detected,
    };
    let source = match (typed.run, typed.file) {
        (Some(words), _) => Source::Driven(Drive {
            words: words.to_vec(),
            full_rate: typed.rate.map_or(0.0, |rate| rate.bits_per_second as f64),
            seconds: typed.seconds,
        }),
        (None, file) => Source::File(file.unwrap_or_default()),
    };
    let terminal = match source {
        Source::Driven(_) => Terminal::take()?,
        Source::File(_) => Terminal::leaving_signals(),
    };
    let series = studies::steps::steps(&Request { source, shape }, &terminal)?;
    drop(terminal);
    if let (Some(form), Some(file)) = (form, &typed.output) {
        form.write(&series, file)?;
    }
    output::document(&series, typed.json, |series| report::text(&Document::of(series), &output::style()))?;
    Ok(code_of(&report::steps_conclusion(&series)))
}
