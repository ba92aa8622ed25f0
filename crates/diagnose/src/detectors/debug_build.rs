//! P46: debug output, tracing, instrumentation, and code without optimization, that each request pays for.

mod unoptimized;

use super::{Found, common_place, costly_call, detector, path_name, rows};
use crate::analysis::ledger::is_within;
use crate::analysis::{Analysis, PotentialSaving};
use crate::code::base_name;
use crate::syscall;
use crate::threads::call_end;
use case::tables::{Call, Sample};
use case::{Nanos, Share};
use std::collections::{BTreeMap, BTreeSet};

detector! {
    /// # debug-build
    ///
    /// ## What it is
    /// Each request pays for what developers look at: line after line of debug output, formatted and written while
    /// somebody waits for the answer, or a build with a sanitizer, a profiler or coverage counters in it, or a debugger
    /// that is loaded into an interpreter (Xdebug, cProfile, coverage.py). Or the whole program runs in another one
    /// that translates its code: valgrind, or qemu for the processor of another kind of machine. Or it was compiled as for a
    /// debugger, without optimization: several times the instructions for the same work.
    ///
    /// ## Evidence
    /// Ten writes or more per request, of a line's length each, to one file that stays open and that nobody syncs (a
    /// log), or to standard error; the time of these calls, and that of CPU samples inside a logging library. Or CPU
    /// samples inside the run-time of a sanitizer, of gprof, or of an interpreter's debugger or profiler; or the
    /// program that the kernel runs is valgrind's or qemu's. Or CPU samples in functions that only a compiler that does not
    /// optimize leaves like that: they store each argument in memory and load it from there (C, C++), or are Rust's
    /// one-line accessors, called one by one.
    ///
    /// ## What proves it
    /// Dropping those lines before they are written: what is left is the cost of formatting them. A build cannot be
    /// changed from outside: there the samples say what it costs at least.
    ///
    /// ## Remedy
    /// Lower the level of the log (nginx: error_log ... warn; Apache: LogLevel; Python: logging.WARNING), buffer it,
    /// and write it outside the request. Deploy a release build (-O2, cargo build --release), for this kind of processor.
    ///
    /// ## Not to be confused with
    /// An access log with a line for each request; sync-disk (a log that waits for the disk); an upload that is written
    /// to a file of its own; what a program prints because it was asked to.
    "P46" "debug-build",
    needs: &[Server, Calls]
}

/// An access log has a line per request, and a warning may have some more.
const LINES: u64 = 10;

/// A line; what is longer is content as a rule, or a buffer of many lines.
const LONGEST_LINE: i64 = 4_096;

/// A progress bar writes dots.
const SHORTEST_LINE: i64 = 20;

/// Standard error.
const ERRORS: i32 = 2;

/// From this share of the requests' time samples in an instrumentation count: a library with one in it may be loaded
/// and idle.
const INSTRUMENTED: f64 = 0.05;

/// Fewer samples than this say little about a share: 20 ms at the usual rate.
const SAMPLES: usize = 20;

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

/// Run-times of builds that check or count what they do, and debuggers and profilers that are loaded into an
/// interpreter, by the names of their libraries,
const RUN_TIMES: [&str; 15] = [
    "libasan.so",
    "libtsan.so",
    "libubsan.so",
    "liblsan.so",
    "libmsan.so",
    "libhwasan.so",
    "libc_malloc_debug.so",
    "xdebug.so",
    "pcov.so",
    "xhprof.so",
    "_lsprof.",
    "tracer.cpython-",
    "NYTProf.so",
    "byebug.so",
    "libjdwp.so",
];

/// and of their functions where they are linked in.
const HOOKS: [&str; 9] = [
    "__asan_",
    "__tsan_",
    "__msan_",
    "__ubsan_",
    "__sanitizer_",
    "__gcov_",
    "mcount",
    "_mcount",
    "__cyg_profile_func_",
];

/// CPython's ways to what `sys.settrace` and `sys.setprofile` were given: what these call is part of it, as it is a
/// script's.
const TRAMPOLINES: [&str; 3] = ["trace_trampoline", "profile_trampoline", "call_trampoline"];

/// What qemu's programs for the programs of other machines are named after (`qemu-aarch64-static`).
const ARCHITECTURES: [&str; 13] = [
    "aarch64",
    "alpha",
    "arm",
    "hppa",
    "i386",
    "loongarch",
    "m68k",
    "mips",
    "ppc",
    "riscv",
    "s390x",
    "sparc",
    "x86_64",
];

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

fn detect(analysis: &Analysis) -> Option<Found> {
    if analysis.exchanges.is_empty() {
        return None;
    }
    let found = [logging(analysis), instrumented(analysis), translated(analysis), unoptimized::detect(analysis)];
    found.into_iter().flatten().max_by_key(|found| found.saving.wall)
}

fn logging(analysis: &Analysis) -> Option<Found> {
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
    let within = samples.filter(|sample| is_within(analysis, sample)).count() as u64;
    let sampled = within * analysis.sample_period();
    (log.time.max(sampled), log.cpu.max(sampled), within)
}

fn is_logging(analysis: &Analysis, sample: &Sample) -> bool {
    let is_logger = |name: &str| LOGGERS.iter().any(|logger| name.starts_with(logger));
    let in_python = || analysis.code.frames(sample.script_stack).any(|frame| frame.file.ends_with(PYTHON_LOGGING));
    analysis.code.passes_through(sample.stack, is_logger) || in_python()
}

/// Samples inside the run-time of an instrumented build.
fn instrumented(analysis: &Analysis) -> Option<Found> {
    let mut kinds: BTreeMap<u32, Option<&str>> = BTreeMap::new();
    let mut hook = |sample: &Sample| *kinds.entry(sample.stack).or_insert_with(|| run_time(analysis, sample));
    let numbered = analysis.recording.samples.iter().enumerate();
    let (found_rows, samples): (Vec<usize>, Vec<&Sample>) =
        numbered.filter(|(_, sample)| hook(sample).is_some()).unzip();
    let count = analysis.exchanges.len() as u64;
    let period = analysis.sample_period();
    let cpu = samples.len() as u64 * period;
    let wall = samples.iter().filter(|sample| is_within(analysis, sample)).count() as u64 * period;
    let share = Nanos(wall).share_of(Nanos(analysis.exchange_wall()));
    if samples.len() < SAMPLES || share.0 < INSTRUMENTED {
        return None;
    }
    let name = samples.iter().find_map(|sample| hook(sample)).unwrap_or("a run-time");
    let place = common_place(analysis, &samples);
    let what = format!("The program runs instrumented ({name})");
    Some(Found {
        title: format!(
            "{what}: at least {} of every {} request{}",
            Nanos(wall / count),
            Nanos(analysis.exchange_wall() / count),
            place.in_words()
        ),
        what,
        mechanism: vec![
            in_run_time(share, name, samples.len()),
            "What its own code checks or counts in between is not in this: the whole is more.".to_string(),
        ],
        saving: PotentialSaving { wall, outside: 0, cpu, affected: count },
        place,
        remedy: "Run it without: a release build, no debugger, no profiler.".to_string(),
        rows: rows("samples", found_rows),
        ..Found::default()
    })
}

/// A program whose code another one translates while it runs, by what the kernel runs for it.
fn translated(analysis: &Analysis) -> Option<Found> {
    let processes = analysis.recording.processes.iter();
    let translators: BTreeMap<u32, &str> =
        processes.filter_map(|process| Some((process.pid, translator(&process.executable)?))).collect();
    let samples = || analysis.recording.samples.iter().filter(|sample| translators.contains_key(&sample.pid));
    let (first, all) = (samples().next()?, samples().count());
    let (count, period) = (analysis.exchanges.len().max(1) as u64, analysis.sample_period());
    let wall =
        (samples().filter(|sample| is_within(analysis, sample)).count() as u64 * period).min(analysis.exchange_wall());
    let share = Nanos(wall).share_of(Nanos(analysis.exchange_wall()));
    if all < SAMPLES || share.0 < INSTRUMENTED {
        return None;
    }
    let name = translators[&first.pid];
    let what = format!("The program runs in {name}, which translates its code");
    Some(Found {
        title: format!(
            "{what}: up to {} of every {} request",
            Nanos(wall / count),
            Nanos(analysis.exchange_wall() / count)
        ),
        what,
        mechanism: vec![
            in_run_time(share, name, all),
            "The program's own work is in this; each of its instructions becomes several.".to_string(),
        ],
        saving: PotentialSaving { wall, outside: 0, cpu: all as u64 * period, affected: count },
        remedy: match name.strip_prefix("qemu-") {
            Some(_) => "Build it for this kind of processor, or run it on one of its own.".to_string(),
            None => format!("Run it without {name}."),
        },
        rows: rows(
            "samples",
            (0..analysis.recording.samples.len())
                .filter(|&row| translators.contains_key(&analysis.recording.samples[row].pid)),
        ),
        ..Found::default()
    })
}

/// The name of an executable that runs others by translating their code: a tool of valgrind's, or qemu's for programs
/// (not for whole machines).
fn translator(executable: &str) -> Option<&str> {
    let name = base_name(executable);
    let is_valgrind = executable.contains("/valgrind/") && name.ends_with("-linux");
    let target = name.strip_prefix("qemu-").unwrap_or_default();
    let is_qemu = ARCHITECTURES.iter().any(|known| target.starts_with(known));
    (is_valgrind || is_qemu).then_some(name)
}

fn in_run_time(share: Share, name: &str, samples: usize) -> String {
    format!("{share} of the requests' time is spent in {name}: {samples} samples.")
}

/// The run-time of an instrumentation that a sample is in, or one of libc's functions for it, or by which a script's
/// was called: its library's name or the function's.
fn run_time<'a>(analysis: &'a Analysis, sample: &Sample) -> Option<&'a str> {
    let mut frames = analysis.code.frames(sample.stack);
    let frame = frames.next()?;
    let called_by = frames.map(|frame| frame.function.as_str()).find(|function| TRAMPOLINES.contains(function));
    if called_by.is_some() {
        return called_by;
    }
    let charged = analysis.code.module_name(analysis.code.caller_of(sample));
    let is_run_time = |module: &&str| RUN_TIMES.iter().any(|known| module.starts_with(known));
    let hook = HOOKS.iter().any(|hook| frame.function.starts_with(hook));
    [base_name(&frame.module), charged].into_iter().find(is_run_time).or(hook.then_some(&frame.function))
}

#[cfg(test)]
mod tests;
