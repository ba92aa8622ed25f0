//! Which libraries are suspected of a difference between two sides: where the bad side spends its CPU time, and by how much
//! more than the good one, waits within a library counted too.
//!
//! What only one side calls by another version is the same library. Waiting for the network, for other threads and for
//! children is charged to nobody: it tells nothing of who waits.

use crate::code::{Code, base_name};
use crate::contrast::Aliases;
use crate::profile::naming::Names;
use crate::profile::renamed;
use crate::syscall;
use crate::units::Units;
use case::Recording;
use case::tables::{Call, kind};
use std::collections::{BTreeMap, BTreeSet};

/// A library (or program) and its part of the time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LibraryBlame {
    /// Its path as the bad side mapped it; as the good side did, where only that has it.
    pub library: String,
    /// Its part of the bad side's CPU time, from 0 to 1; the C library's and the kernel's time is charged to the first
    /// caller that is neither.
    pub cpu_share: f64,
    /// Its part of the difference of processor and blocked time, bad less good, from 0 to 1. Over all libraries these sum to
    /// 1, or to 0 where none takes more.
    pub difference: f64,
}

/// Libraries of both sides, the most suspected first: by their part of the difference, then by their CPU time. Figures
/// are of an exchange where every recording has exchanges, else of a run.
pub fn blame(good: &[Recording], bad: &[Recording]) -> Vec<LibraryBlame> {
    let aliases = Aliases::of_modules(good, bad);
    let units = Units::of(good, bad);
    let (good_side, bad_side) = (LibraryTimes::of(good, aliases.of_a()), LibraryTimes::of(bad, aliases.of_b()));
    let more = |name: &str| (bad_side.time(name) / units.b - good_side.time(name) / units.a).max(0.0);
    let names = good_side.paths.keys().chain(bad_side.paths.keys()).collect::<BTreeSet<_>>();
    let whole = names.iter().map(|name| more(name)).sum::<f64>();
    let part = |time: f64, of: f64| if of > 0.0 { time / of } else { 0.0 };
    let row = |name: &String| LibraryBlame {
        library: bad_side.paths.get(name).or_else(|| good_side.paths.get(name)).unwrap_or(name).clone(),
        cpu_share: part(bad_side.processor(name), bad_side.processor.values().sum()),
        difference: part(more(name), whole),
    };
    let mut rows = names.into_iter().map(row).collect::<Vec<_>>();
    rows.retain(|row| row.cpu_share > 0.0 || row.difference > 0.0);
    rows.sort_by(|one, other| {
        let by_time = other.difference.total_cmp(&one.difference).then(other.cpu_share.total_cmp(&one.cpu_share));
        by_time.then_with(|| one.library.cmp(&other.library))
    });
    rows
}

/// The time of one side by the common names of its libraries, in nanoseconds.
#[derive(Default)]
struct LibraryTimes {
    processor: BTreeMap<String, f64>,
    blocked: BTreeMap<String, f64>,
    paths: BTreeMap<String, String>,
}

impl LibraryTimes {
    fn of(recordings: &[Recording], names: Names) -> LibraryTimes {
        let profile = renamed(recordings, names);
        let processor = profile.libraries.into_iter().map(|(name, time)| (name, time.ns as f64)).collect();
        let mut side = LibraryTimes { processor, ..LibraryTimes::default() };
        for recording in recordings {
            let paths = recording.locations.iter().filter(|row| row.kind == kind::NATIVE).map(|row| &row.module);
            let programs = recording.processes.iter().map(|row| &row.executable);
            for path in paths.chain(programs).filter(|path| path.starts_with('/')) {
                side.paths.entry(names.module(base_name(path))).or_insert_with(|| path.clone());
            }
            side.add_waits(recording, names);
        }
        side
    }

    /// Blocked time of calls that wait for nobody else, by the library whose code is waiting.
    fn add_waits(&mut self, recording: &Recording, names: Names) {
        let code = Code::new(recording);
        for call in recording.calls.iter().filter(|call| call.blocked.0 > 0 && is_own_wait(call)) {
            if let Some(location) = code.charged_frame(call.stack) {
                *self.blocked.entry(names.module(base_name(&location.module))).or_default() += call.blocked.0 as f64;
            }
        }
    }

    fn processor(&self, name: &str) -> f64 {
        self.processor.get(name).copied().unwrap_or_default()
    }

    fn time(&self, name: &str) -> f64 {
        self.processor(name) + self.blocked.get(name).copied().unwrap_or_default()
    }
}

/// Whether a call blocks for what its caller does itself: a sleep, a file, a disk. Sockets, readiness of descriptors, other
/// threads and children are somebody else's doing.
fn is_own_wait(call: &Call) -> bool {
    let number = call.number;
    let is_of_socket = call.connection != 0 || syscall::is_accept(number) || number == syscall::CONNECT;
    let is_of_others = syscall::is_poll(number)
        || syscall::class(number) == syscall::Class::Lock
        || syscall::is_wait_for_child(number);
    let is_transfer = syscall::is_read(number) || syscall::is_write(number);
    // A pipe or a terminal has no path and no connection; what comes out of it is somebody else's too.
    let is_of_file = !is_transfer || call.path != 0;
    !is_of_socket && !is_of_others && is_of_file
}

#[cfg(test)]
mod tests;
