//! `whyslow load URL`: how a server bears a load.

use crate::arguments::LoadArguments;
use crate::console::Terminal;
use crate::form::Form;
use crate::{output, requests};
use fail::Failure;
use report::Document;
use studies::load::Done;

/// Drives the load, or puts loads together, and prints what came of it. 0 where all requests were answered, 1 where some were
/// not.
pub fn load(typed: LoadArguments) -> Result<u8, Failure> {
    record::memory::a_place_for_each_processor();
    let as_json = typed.json;
    let form = typed.file.as_deref().map(Form::of).transpose()?;
    let (file, histogram) = (typed.file.clone(), typed.histogram.clone());
    let Done { load, histograms } = if typed.merge.is_empty() {
        let plan = requests::load::request(typed)?;
        let terminal = Terminal::take()?;
        studies::load::load(&plan, &terminal)?
    } else {
        studies::load::merged(&typed.merge)?
    };
    output::document(&load, as_json, |load| report::text(&Document::of(load), &output::style()))?;
    if let Some(file) = &histogram {
        output::write(histograms.write().as_bytes(), Some(file))?;
    }
    if let (Some(form), Some(file)) = (form, &file) {
        form.write(&load, file)?;
    }
    Ok(u8::from(load.failed > 0 || load.unsent > 0))
}
