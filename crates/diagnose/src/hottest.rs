//! The program's own function that holds most of its CPU time: what to switch off to see whether it matters.

use crate::code::{Code, base_name};
use crate::threads::groups;
use case::Recording;
use case::tables::{Location, kind};
use std::collections::BTreeMap;

/// A function must hold this share of all CPU time.
const MOST: f64 = 0.5;

/// Some thread must have been on a processor for this share of the run. On a machine that others use too, one that never
/// waits for anything else has it for half of the time or less.
const BUSY: f64 = 0.3;

/// Fewer samples than this say little about a share.
const SAMPLES: usize = 20;

/// Functions that are the program itself.
const WHOLE: [&str; 3] = ["main", "_start", "main.main"];

/// A function of the program that holds most of its CPU time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hottest {
    /// Its name.
    pub function: String,
    /// Path of the program or library that it is in.
    pub module: String,
    /// Its first instruction's address as the file's headers give it; 0 where it is not known.
    pub offset: u64,
    /// Its share of all CPU time, callees included.
    pub share: f64,
    /// Whether it is in a program's own file, not in a library of its.
    pub own: bool,
}

/// The innermost named function of the program, not of the system's libraries, that holds at least half of all CPU
/// time, callees included, while some thread was busy on a processor. Never `main`.
pub fn hottest(recording: &Recording) -> Option<Hottest> {
    let wall = (recording.manifest.end - recording.manifest.start).0 as f64;
    let period = 1e9 / f64::from(recording.manifest.sampling_hertz.max(1));
    let busiest = groups(&recording.samples, |row| row.tid).into_iter().map(|(_, rows)| rows.len()).max();
    let busy = busiest.unwrap_or_default() as f64 * period >= BUSY * wall;
    if recording.samples.len() < SAMPLES || !busy {
        return None;
    }
    let held = held(recording);
    let enough = (recording.samples.len() as f64 * MOST).ceil() as u64;
    let candidates = held.into_iter().filter(|(_, held)| held.samples >= enough);
    // Of functions that all hold half, the innermost has the most others above it.
    let ((module, function), held) = candidates.max_by_key(|(_, held)| (held.callers / held.samples, held.samples))?;
    let (module, own) = whole_path(recording, module);
    Some(Hottest {
        function: function.to_string(),
        module,
        offset: held.offset,
        share: held.samples as f64 / recording.samples.len() as f64,
        own,
    })
}

/// The path of a module, and whether it is a program: one that was mapped by a path relative to some folder is known by
/// the program of that name.
fn whole_path(recording: &Recording, module: &str) -> (String, bool) {
    let is_it = |path: &str| path == module || (!module.starts_with('/') && base_name(path) == base_name(module));
    let program = recording.processes.iter().map(|row| row.executable.as_str()).find(|path| is_it(path));
    (program.unwrap_or(module).to_string(), program.is_some())
}

/// What a function holds.
#[derive(Default)]
struct Held {
    samples: u64,
    /// How many of the program's functions stood above it, summed over the samples.
    callers: u64,
    offset: u64,
}

fn held(recording: &Recording) -> BTreeMap<(&str, &str), Held> {
    let code = Code::new(recording);
    let mut stacks: BTreeMap<u32, u64> = BTreeMap::new();
    for sample in &recording.samples {
        *stacks.entry(sample.stack).or_default() += 1;
    }
    let mut held: BTreeMap<(&str, &str), Held> = BTreeMap::new();
    for (stack, samples) in stacks {
        let frames: Vec<&Location> = code.frames(stack).collect();
        let outermost_first = frames.iter().rev().filter(|location| is_switchable(location));
        let mut seen: Vec<(&str, &str)> = Vec::new();
        for location in outermost_first {
            let name = (location.module.as_str(), location.function.as_str());
            if seen.contains(&name) {
                continue;
            }
            let entry = held.entry(name).or_default();
            entry.samples += samples;
            entry.callers += samples * seen.len() as u64;
            entry.offset = location.function_offset;
            seen.push(name);
        }
    }
    held
}

/// Whether a function is the program's own work: compiled, named, outside the system's libraries.
fn is_switchable(location: &Location) -> bool {
    let system =
        ["/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"].iter().any(|folder| location.module.starts_with(folder));
    location.kind == kind::NATIVE
        && !location.is_libc
        && !system
        && !location.function.is_empty()
        && !WHOLE.contains(&location.function.as_str())
}

#[cfg(test)]
mod tests;
