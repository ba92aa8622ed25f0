//! `trial`: one trial from a file, and the case it leaves.

use crate::manifest::manifest;
use crate::{Activity, Console, StudyError};
use case::tables::Trial;
use case::{Answer, Case, CaseWriter, Manifest, Nanos, Recording, SCHEMA};
use lab::{Journal, Laboratory, Subject, TrialSpec};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What is to be run.
pub struct Request {
    /// The file that describes the trial.
    pub file: PathBuf,
    /// What stands in it.
    pub spec: TrialSpec,
    /// The programs, their placeholders filled in.
    pub subject: Subject,
    /// The case's folder, which is not there yet.
    pub folder: PathBuf,
}

/// Runs the trial and keeps it: its row.
///
/// # Errors
/// Where the file asks for what there is not, the programs cannot be started, or the case cannot be written.
pub fn trial(request: &Request, console: &dyn Console) -> Result<Trial, StudyError> {
    let (spec, folder) = (&request.spec, &request.folder);
    let row = run(request, console)?;
    let server = (!spec.server.is_empty()).then(|| spec.server.clone());
    let typed = Subject { client: spec.command.clone(), server, ..Subject::default() };
    let head = Manifest { start: row.start, end: row.start + row.wall, ..manifest(&typed, &spec.world) };
    let mut writer = CaseWriter::create(folder, head)?;
    writer.append([row.clone()])?;
    writer.close()?.keep("spec.json", &spec.clone().redacted())?;
    Ok(row)
}

fn run(request: &Request, console: &dyn Console) -> Result<Trial, StudyError> {
    let spec = &request.spec;
    let seen = spec.case.as_deref().map(seen).transpose()?;
    let findings = seen.as_ref().map_or(&[][..], |(_, answer)| &answer.findings);
    let arm = spec.arm(seen.as_ref().map(|(recording, _)| recording), findings);
    let arm = arm.map_err(|why| StudyError::Spec { file: request.file.clone(), why })?;
    let _activity = Activity::of(console, &format!("trial of {}", arm.name));
    let journal = Journal::open()?;
    let mut wait = |longest: Duration| console.next(longest).is_some();
    let mut laboratory = Laboratory::open(&journal, spec.metric.as_ref(), &mut wait)?;
    let outcome = laboratory.run(&request.subject, &spec.world, &arm.treatment, &spec.extent())?;
    Ok(outcome.of_arm(&arm, 0, 0).row)
}

/// A case whose recording the interventions may look at, and what it means.
fn seen(folder: &Path) -> Result<(Recording, Answer), StudyError> {
    let case = Case::open(folder)?;
    let recording = Recording::load(&case)?;
    let answer = diagnose::diagnose(&recording, &folder.display().to_string(), &diagnose::Options { all: true });
    Ok((recording, answer))
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

/// The figures of a trial whose case is in a folder.
pub fn figures(row: &Trial, folder: &Path) -> Figures {
    let each = |nanos: Nanos| (row.exchanges > 0).then(|| nanos.0 as f64 / row.exchanges as f64);
    Figures {
        schema: SCHEMA,
        case: folder.display().to_string(),
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

/// Processor time of client and server together.
pub fn processor(row: &Trial) -> Nanos {
    row.client_user + row.client_system + row.server_user + row.server_system
}
