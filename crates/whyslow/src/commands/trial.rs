//! `whyslow trial SPEC.toml`: one trial from a file, and the case it leaves.

use crate::arguments::TrialArguments;
use crate::fail::Failure;
use crate::interrupts::Interrupts;
use crate::invoker::{Invoker, subject_user};
use crate::progress::Progress;
use crate::{folder, output, typed};
use case::tables::Trial;
use case::{Answer, Case, CaseWriter, Manifest, Nanos, Recording, SCHEMA, redact_arguments};
use lab::{Journal, Laboratory, Subject, TrialSpec};
use schemars::JsonSchema;
use serde::Serialize;
use std::time::{Duration, SystemTime};

/// Runs the trial, keeps it, and prints what was measured.
pub fn trial(typed: &TrialArguments) -> Result<u8, Failure> {
    let text = std::fs::read_to_string(&typed.spec).map_err(|error| Failure::spec(&typed.spec, &error.to_string()))?;
    let spec = TrialSpec::read(&text).map_err(|error| Failure::spec(&typed.spec, &error.to_string()))?;
    let invoker = Invoker::find();
    let state = invoker.state_folder().ok_or_else(Failure::no_home)?;
    let folder = match &typed.keeping.folder {
        Some(folder) => std::path::absolute(folder).map_err(|error| Failure::output(&error))?,
        None => folder::new_case(&state, &spec.command, SystemTime::now()),
    };
    folder::make_parents(&folder, &invoker)?;
    let row = run(&spec, typed, &invoker)?;
    let mut writer = CaseWriter::create(&folder, manifest(&spec, &row))?;
    writer.append([row.clone()])?;
    let case = writer.close()?;
    case.keep("spec.json", &spec.redacted())?;
    invoker.own(&folder);
    show(&row, &folder.display().to_string(), typed)?;
    Ok(u8::from(!row.problem.is_empty()) * crate::fail::INCONCLUSIVE)
}

fn run(spec: &TrialSpec, typed: &TrialArguments, invoker: &Invoker) -> Result<Trial, Failure> {
    let interrupts = Interrupts::take()?;
    let seen = spec.case.as_deref().map(seen).transpose()?;
    let findings = seen.as_ref().map_or(&[][..], |(_, answer)| &answer.findings);
    let wrong = |error: lab::LabError| Failure::spec(&typed.spec, &error.to_string());
    let arm = spec.arm(seen.as_ref().map(|(recording, _)| recording), findings).map_err(wrong)?;
    let addresses = typed::addresses(spec.world.link);
    let server = (!spec.server.is_empty()).then(|| typed::with_addresses(&spec.server, addresses));
    let subject = Subject {
        client: typed::with_addresses(&spec.command, addresses),
        server,
        user: subject_user(typed.keeping.user.as_deref(), invoker)?,
        input: lab::input_again().unwrap_or_default(),
    };
    let progress = Progress::begin();
    progress.say(&format!("trial of {}", arm.name));
    let journal = Journal::open()?;
    let mut wait = |longest: Duration| interrupts.next(longest).is_some();
    let mut laboratory = Laboratory::open(&journal, spec.metric.as_ref(), &mut wait)?;
    let outcome = laboratory.run(&subject, &spec.world, &arm.treatment, &spec.extent())?;
    Ok(outcome.of_arm(&arm, 0, 0).row)
}

/// A case whose recording the interventions may look at, and what it means.
fn seen(folder: &std::path::Path) -> Result<(Recording, Answer), Failure> {
    let case = Case::open(folder)?;
    let recording = Recording::load(&case)?;
    let answer = diagnose::diagnose(&recording, &folder.display().to_string(), &diagnose::Options { all: true });
    Ok((recording, answer))
}

fn manifest(spec: &TrialSpec, row: &Trial) -> Manifest {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    Manifest {
        schema: SCHEMA,
        whyslow: env!("CARGO_PKG_VERSION").to_string(),
        command: redact_arguments(&spec.command),
        server: redact_arguments(&spec.server),
        link: spec.world.link.map(|link| link.to_string()).unwrap_or_default(),
        started_unix_seconds: now.map_or(0, |since| since.as_secs()),
        start: row.start,
        end: row.start + row.wall,
        ..Manifest::default()
    }
}

fn show(row: &Trial, folder: &str, typed: &TrialArguments) -> Result<(), Failure> {
    if typed.json {
        return output::print(&output::json(&figures(row, folder))?);
    }
    output::print(&(sentences(row).join("\n") + &format!("\nCase: {folder}\n")))
}

/// What was measured, a line each.
fn sentences(row: &Trial) -> Vec<String> {
    let rate = row.exchanges as f64 / row.wall.seconds().max(1e-9);
    let each = |nanos: Nanos| Nanos(nanos.0 / row.exchanges.max(1));
    let mut lines =
        vec![format!("Trial of {}: {} exchanges in {}, {rate:.1} a second.", row.arm, row.exchanges, row.wall)];
    if row.exchanges > 0 {
        let (wall, cpu) = (each(row.exchange_wall), each(processor(row)));
        lines.push(format!("An exchange took {wall}, and {cpu} of processor time."));
    }
    lines.push(format!(
        "Processor time: client {} user, {} system; server {} user, {} system.",
        row.client_user, row.client_system, row.server_user, row.server_system
    ));
    lines.push(match row.exit {
        -1 => "It was cut before the program's end.".to_string(),
        status => format!("The program ended with status {status}."),
    });
    if row.metric.is_finite() {
        lines.push(format!("The metric: {}", row.metric));
    }
    if !row.problem.is_empty() {
        let what = if row.applied { "" } else { "it did not take hold: " };
        lines.push(format!("But {what}{}.", report::clean(&row.problem)));
    }
    lines
}

fn processor(row: &Trial) -> Nanos {
    row.client_user + row.client_system + row.server_user + row.server_system
}

/// What `--json` prints.
#[derive(Serialize, JsonSchema)]
pub struct Figures {
    /// The contract's version.
    schema: u32,
    /// The case's folder.
    case: String,
    /// What was attached: the name of the arm.
    arm: String,
    /// Whether it took hold.
    applied: bool,
    /// How often it changed something.
    changes: u64,
    /// Why the trial does not count; empty where it does.
    problem: String,
    /// The program's exit status; none where it was cut before its end.
    exit: Option<i32>,
    /// How long was measured, in nanoseconds.
    wall_ns: u64,
    /// Processor time in user mode, client and server together, in nanoseconds.
    user_ns: u64,
    /// Processor time in the kernel, client and server together, in nanoseconds.
    system_ns: u64,
    /// The client's processor time, in nanoseconds.
    client_cpu_ns: u64,
    /// The server's processor time, in nanoseconds.
    server_cpu_ns: u64,
    /// Exchanges that were measured.
    exchanges: u64,
    /// Exchanges a second.
    exchanges_per_second: f64,
    /// The mean exchange's length, in nanoseconds; none without exchanges.
    wall_ns_per_exchange: Option<f64>,
    /// The time from one exchange to the next, in nanoseconds; none without exchanges.
    elapsed_ns_per_exchange: Option<f64>,
    /// Processor time of the mean exchange, in nanoseconds; none without exchanges.
    cpu_ns_per_exchange: Option<f64>,
    /// The metric that the file asks for; none where it asks for none, or it was not found.
    metric: Option<f64>,
}

fn figures(row: &Trial, folder: &str) -> Figures {
    let each = |nanos: Nanos| (row.exchanges > 0).then(|| nanos.0 as f64 / row.exchanges as f64);
    Figures {
        schema: SCHEMA,
        case: folder.to_string(),
        arm: row.arm.clone(),
        applied: row.applied,
        changes: row.changes,
        problem: row.problem.clone(),
        exit: (row.exit >= 0).then_some(row.exit),
        wall_ns: row.wall.0,
        user_ns: (row.client_user + row.server_user).0,
        system_ns: (row.client_system + row.server_system).0,
        client_cpu_ns: (row.client_user + row.client_system).0,
        server_cpu_ns: (row.server_user + row.server_system).0,
        exchanges: row.exchanges,
        exchanges_per_second: row.exchanges as f64 / row.wall.seconds().max(1e-9),
        wall_ns_per_exchange: each(row.exchange_wall),
        elapsed_ns_per_exchange: each(row.wall),
        cpu_ns_per_exchange: each(processor(row)),
        metric: row.metric.is_finite().then_some(row.metric),
    }
}
