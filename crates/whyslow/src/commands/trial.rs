//! `whyslow trial SPEC.toml`: one trial from a file, and the case it leaves.

use crate::arguments::TrialArguments;
use crate::console::Terminal;
use crate::fail::{self, Failure};
use crate::invoker::{Invoker, subject_user};
use crate::{folder, output, typed};
use case::Nanos;
use case::tables::Trial;
use lab::{Subject, TrialSpec};
use std::path::Path;
use studies::trial::{Request, figures, processor};

/// Runs the trial, keeps it, and prints what was measured.
pub fn trial(typed: &TrialArguments) -> Result<u8, Failure> {
    let invoker = Invoker::find();
    let request = request(typed, &invoker)?;
    folder::make_parents(&request.folder, &invoker)?;
    let row = studies::trial::trial(&request, &Terminal::take(&invoker)?)?;
    invoker.own(&request.folder);
    show(&row, &request.folder, typed)?;
    Ok(u8::from(!row.problem.is_empty()) * fail::INCONCLUSIVE)
}

fn request(typed: &TrialArguments, invoker: &Invoker) -> Result<Request, Failure> {
    let text = std::fs::read_to_string(&typed.spec).map_err(|error| Failure::spec(&typed.spec, &error.to_string()))?;
    let spec = TrialSpec::read(&text).map_err(|error| Failure::spec(&typed.spec, &error.to_string()))?;
    let addresses = typed::addresses(spec.world.link);
    let server = (!spec.server.is_empty()).then(|| typed::with_addresses(&spec.server, addresses));
    let subject = Subject {
        client: typed::with_addresses(&spec.command, addresses),
        server,
        user: subject_user(typed.keeping.user.as_deref(), invoker)?,
        input: lab::input_again().unwrap_or_default(),
    };
    let folder = typed::case_folder(typed.keeping.folder.as_deref(), &spec.command, invoker)?;
    Ok(Request { file: typed.spec.clone(), spec, subject, folder })
}

fn show(row: &Trial, folder: &Path, typed: &TrialArguments) -> Result<(), Failure> {
    if typed.json {
        return output::print(&output::json(&figures(row, folder))?);
    }
    output::print(&(sentences(row).join("\n") + &format!("\nCase: {}\n", folder.display())))
}

/// What was measured, a line each.
fn sentences(row: &Trial) -> Vec<String> {
    let rate = row.exchanges as f64 / row.wall.seconds().max(1e-9);
    let each = |nanos: Nanos| Nanos(nanos.0 / row.exchanges.max(1));
    let mut lines =
        vec![format!("Trial of {}: {} exchanges in {}, {rate:.1} a second.", row.arm, row.exchanges, row.wall)];
    if row.exchanges > 0 {
        let (wall, cpu) = (each(row.exchange_wall), each(processor(row)));
        lines.push(format!("Per exchange: {wall} of wall time, {cpu} of CPU time."));
    }
    lines.push(format!(
        "CPU time: client {} user, {} system; server {} user, {} system.",
        row.client_user, row.client_system, row.server_user, row.server_system
    ));
    lines.push(match row.exit {
        -1 => "The trial was cut short before the program ended.".to_string(),
        status => format!("The program exited with status {status}."),
    });
    if row.metric.is_finite() {
        lines.push(format!("The metric: {}", row.metric));
    }
    if !row.problem.is_empty() {
        let what = if row.applied { "" } else { "the intervention did not take effect: " };
        lines.push(format!("But {what}{}.", report::clean(&row.problem)));
    }
    lines
}
