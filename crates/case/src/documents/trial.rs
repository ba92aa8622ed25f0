//! What one trial measured.

use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;
use storage::tables::Trial;
use storage::{Nanos, SCHEMA};

/// What one trial measured.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TrialFigures {
    /// The version of this format.
    schema: u32,
    /// The case's folder.
    case: String,
    /// The name of the arm: what was attached.
    arm: String,
    /// Whether it took effect.
    applied: bool,
    /// How often it changed something.
    changes: u64,
    /// Why the trial does not count; empty if it does.
    problem: String,
    /// The program's exit status; none if the trial was cut short.
    exit: Option<i32>,
    /// How long the measurement is, in nanoseconds.
    wall_ns: u64,
    /// CPU time in user mode, client and server together, in nanoseconds.
    user_ns: u64,
    /// CPU time in the kernel, client and server together, in nanoseconds.
    system_ns: u64,
    /// The client's CPU time, in nanoseconds.
    client_cpu_ns: u64,
    /// The server's CPU time, in nanoseconds.
    server_cpu_ns: u64,
    /// Exchanges that were measured.
    exchanges: u64,
    /// Exchanges a second.
    exchanges_per_second: f64,
    /// The mean exchange's length, in nanoseconds; none without exchanges.
    wall_ns_per_exchange: Option<f64>,
    /// The time from one exchange to the next, in nanoseconds; none without exchanges.
    elapsed_ns_per_exchange: Option<f64>,
    /// CPU time of the mean exchange, in nanoseconds; none without exchanges.
    cpu_ns_per_exchange: Option<f64>,
    /// The metric that the file asks for; none if it asks for none, or if it was not found.
    metric: Option<f64>,
}

impl TrialFigures {
    /// The figures of a trial whose case is in a folder.
    pub fn of(row: &Trial, folder: &Path) -> TrialFigures {
        let each = |nanos: Nanos| (row.exchanges > 0).then(|| nanos.0 as f64 / row.exchanges as f64);
        TrialFigures {
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
            cpu_ns_per_exchange: each(row.cpu()),
            metric: row.metric.is_finite().then_some(row.metric),
        }
    }
}
