//! Line after line of a log that is written while requests wait.

use crate::analysis::{Analysis, PotentialSaving};
use crate::detectors::{Found, costly_call, path_name, rows};
use crate::syscall;
use crate::threads::call_end;
use case::Nanos;
use case::tables::{Call, Sample};
use std::collections::{BTreeMap, BTreeSet};

/// An access log has a line per request, and a warning may have some more.
const LINES: u64 = 10;

/// A line; what is longer is content as a rule, or a buffer of many lines.
const LONGEST_LINE: i64 = 4_096;

/// A progress bar writes dots.
const SHORTEST_LINE: i64 = 20;

/// Standard error.
const ERRORS: i32 = 2;

/// What functions of logging libraries begin with: nginx, Apache httpd, syslog, GLib, log4c*, spdlog, Go's.
const LOGGERS: [&str; 10] = [
    "ngx_log_",
    "ap_log_",
    "vsyslog",
    "__vsyslog",
    "g_log",
    "log4",
    "spdlog::",
    "log.(*Logger).",
    "log/slog.(*Logger).",
    "go.uber.org/zap",
];

/// Where Python's logging lives.
const PYTHON_LOGGING: &str = "/logging/__init__.py";

/// What a process wrote to one thing while it had requests in hand.
#[derive(Default)]
struct Log {
    calls: Vec<usize>,
    bytes: i64,
    /// Bytes of what was longer than a line.
    content: i64,
    lengths: BTreeSet<i64>,
    time: u64,
    cpu: u64,
    is_synced: bool,
    /// Whether it is standard error, wherever that leads: for messages, and not for records.
    is_errors: bool,
}

pub(super) fn detect(analysis: &Analysis) -> Option<Found> {
    let count = analysis.exchanges.len() as u64;
    let logs = logs(analysis);
    let ((_, path, _), log) = logs
        .iter()
        .filter(|(_, log)| is_log(log, count))
        .max_by_key(|(key, log)| (log.time, std::cmp::Reverse(**key)))?;
    let (wall, cpu, by_logging) = with_formatting(analysis, log);
    let name = match path {
        0 => "standard error".to_string(),
        id => path_name(analysis, *id).to_string(),
    };
    let place = costly_call(analysis, log.calls.iter().map(|&row| (row, analysis.call(row).duration.0)));
    let lines = log.calls.len() as u64 / count;
    let mut mechanism = vec![format!(
        "{} lines of {} bytes each went to {name}, while requests waited; writing one takes {}.",
        log.calls.len(),
        log.bytes / log.calls.len() as i64,
        Nanos(log.time / log.calls.len() as u64)
    )];
    if by_logging > 0 {
        mechanism.push(format!("{by_logging} samples are inside a logging library."));
    }
    Some(Found {
        title: format!(
            "Each request writes {lines} lines of debug output: {} of every {} request{}",
            Nanos(wall / count),
            Nanos(analysis.exchange_wall() / count),
            place.in_words(),
        ),
        what: format!("Each request writes {lines} lines of debug output"),
        mechanism,
        saving: PotentialSaving { wall, outside: 0, cpu, affected: count },
        place,
        remedy: "Lower the level of the log, buffer it, or write it outside the request.".to_string(),
        rows: rows("calls", log.calls.iter().copied()),
        ..Found::default()
    })
}

/// The files that processes write line by line, as logs are: by process and path.
pub(in crate::detectors) fn written_by_lines(analysis: &Analysis) -> BTreeSet<(u32, u32)> {
    let count = analysis.exchanges.len() as u64;
    logs(analysis).into_iter().filter(|(_, log)| is_log(log, count)).map(|((pid, path, _), _)| (pid, path)).collect()
}

/// What is written line by line, many a request, of different lengths where it may be records, and not to be kept at
/// any price. A file that is transferred has short pieces, too, beside long ones.
fn is_log(log: &Log, exchanges: u64) -> bool {
    let calls = log.calls.len() as u64;
    if log.content >= log.bytes {
        return false;
    }
    let differ = log.is_errors || log.lengths.len() > 2;
    calls >= LINES * exchanges && differ && log.bytes >= SHORTEST_LINE * calls as i64 && !log.is_synced
}

/// The short writes that threads made while they had a request in hand: by process, path, and descriptor where there is
/// no path.
fn logs(analysis: &Analysis) -> BTreeMap<(u32, u32, i32), Log> {
    let mut logs: BTreeMap<(u32, u32, i32), Log> = BTreeMap::new();
    // A file that is opened anew for each request is no log; it is never left out that it was opened once.
    let mut opened: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    for (row, call) in analysis.recording.calls.iter().enumerate() {
        if call.connection != 0 {
            continue;
        }
        if syscall::is_open(call.number) && call.result >= 0 {
            *opened.entry((call.pid, call.path)).or_default() += 1;
        } else if let Some(log) = log_of(&mut logs, call) {
            note(analysis, log, row, call);
        }
    }
    let exchanges = analysis.exchanges.len() as u64;
    logs.retain(|(pid, path, _), _| opened.get(&(*pid, *path)).is_none_or(|times| times * 2 < exchanges));
    logs
}

fn log_of<'l>(logs: &'l mut BTreeMap<(u32, u32, i32), Log>, call: &Call) -> Option<&'l mut Log> {
    let key = match (call.path, call.fd) {
        (0, ERRORS) => (call.pid, 0, ERRORS),
        (0, _) => return None,
        (path, _) => (call.pid, path, -1),
    };
    let is_of_file = syscall::is_write(call.number) || syscall::is_sync(call.number);
    is_of_file.then(|| logs.entry(key).or_default())
}

fn note(analysis: &Analysis, log: &mut Log, row: usize, call: &Call) {
    log.is_synced |= syscall::is_sync(call.number);
    if !syscall::is_write(call.number) || call.result <= 0 {
        return;
    }
    if call.result > LONGEST_LINE {
        log.content = log.content.saturating_add(call.result);
        return;
    }
    let (inside, _) = analysis.split(call.tid, call.start.0, call_end(call));
    if inside > 0 {
        log.is_errors = call.fd == ERRORS && (log.is_errors || log.calls.is_empty());
        log.calls.push(row);
        log.bytes += call.result;
        log.lengths.insert(call.result);
        log.time += inside;
        log.cpu += call.duration.0.saturating_sub(call.blocked.0);
    }
}

/// Wall time and CPU time of a log with what formats its lines, as far as samples show it, and how many do.
fn with_formatting(analysis: &Analysis, log: &Log) -> (u64, u64, u64) {
    let mut kinds: BTreeMap<(u32, u32), bool> = BTreeMap::new();
    let mut logs = |sample: &Sample| {
        *kinds.entry((sample.stack, sample.script_stack)).or_insert_with(|| is_logging(analysis, sample))
    };
    let samples = analysis.recording.samples.iter().filter(|sample| logs(sample));
    let within = samples.filter(|sample| analysis.is_for_requests(sample)).count() as u64;
    let sampled = within * analysis.sample_period();
    (log.time.max(sampled), log.cpu.max(sampled), within)
}

fn is_logging(analysis: &Analysis, sample: &Sample) -> bool {
    let is_logger = |name: &str| LOGGERS.iter().any(|logger| name.starts_with(logger));
    let in_python = || analysis.code.frames(sample.script_stack).any(|frame| frame.file.ends_with(PYTHON_LOGGING));
    analysis.code.passes_through(sample.stack, is_logger) || in_python()
}
