//! P46: debug output, tracing, instrumentation, and code without optimization, that each request pays for.

pub(super) mod log_lines;
mod unoptimized;

use super::{Found, common_place, detector, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::code::base_name;
use case::tables::Sample;
use case::{Nanos, Share};
use std::collections::BTreeMap;

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

/// From this share of the requests' time samples in an instrumentation count: a library with one in it may be loaded
/// and idle.
const INSTRUMENTED: f64 = 0.05;

/// Fewer samples than this say little about a share: 20 ms at the usual rate.
const SAMPLES: usize = 20;

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

fn detect(analysis: &Analysis) -> Option<Found> {
    if analysis.exchanges.is_empty() {
        return None;
    }
    let found =
        [log_lines::detect(analysis), instrumented(analysis), translated(analysis), unoptimized::detect(analysis)];
    found.into_iter().flatten().max_by_key(|found| found.saving.wall)
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
    let wall = samples.iter().filter(|sample| analysis.is_for_requests(sample)).count() as u64 * period;
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
    let wall = (samples().filter(|sample| analysis.is_for_requests(sample)).count() as u64 * period)
        .min(analysis.exchange_wall());
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
pub(super) mod tests;
