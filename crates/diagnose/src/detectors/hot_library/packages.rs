//! Packages of a language's own library, or installed for a program, which are in no library of their own on disk.

use super::{PER_BYTE, SAMPLES, found, is_most};
use crate::analysis::Analysis;
use crate::detectors::Found;
use crate::place;
use crate::waits;
use case::Nanos;
use case::tables::Sample;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A package that takes less than this of a request is not worth looking at, in nanoseconds: frameworks take a millisecond or two of
/// most requests.
const PER_EXCHANGE: u64 = 5_000_000;

/// Samples of a package: their rows, and how long requests waited for them.
#[derive(Default)]
struct Package {
    rows: Vec<usize>,
    wall: f64,
}

/// The package that requests wait for most, whichever of a server's threads is in it.
pub(super) fn detect(analysis: &Analysis) -> Option<Found> {
    let packages = by_stack(analysis);
    let of = |sample: &Sample| *packages.get(&(sample.script_stack, sample.stack))?;
    if analysis.recording.samples.iter().filter(|sample| of(sample).is_some()).count() < SAMPLES {
        return None;
    }
    let period = analysis.sample_period() as f64;
    let mut found_in: BTreeMap<&str, Package> = BTreeMap::new();
    for stretch in waits::stretches(analysis) {
        let thread = &analysis.threads.all()[stretch.thread];
        let samples = &analysis.recording.samples[thread.samples.clone()];
        let from = samples.partition_point(|sample| sample.time.0 < stretch.from);
        let to = samples.partition_point(|sample| sample.time.0 < stretch.to);
        for (row, sample) in samples.iter().enumerate().take(to).skip(from) {
            let Some(package) = of(sample) else { continue };
            let package = found_in.entry(package).or_default();
            package.rows.push(thread.samples.start + row);
            package.wall += period * stretch.weight;
        }
    }
    let (name, mut package) = found_in.into_iter().max_by(|one, other| one.1.wall.total_cmp(&other.1.wall))?;
    package.rows.sort_unstable();
    package.rows.dedup();
    let wall = (package.wall as u64).min(analysis.exchange_wall());
    let share = Nanos(wall).share_of(Nanos(analysis.exchange_wall()));
    let bytes: u64 = analysis.exchanges.iter().map(|exchange| exchange.bytes).sum();
    let is_dear = wall >= PER_EXCHANGE * analysis.exchanges.len() as u64 && wall >= PER_BYTE.saturating_mul(bytes);
    if !is_most(analysis, wall) || !is_dear || package.rows.len() < SAMPLES {
        return None;
    }
    let samples: Vec<&Sample> = package.rows.iter().map(|&row| &analysis.recording.samples[row]).collect();
    Some(found(analysis, name, share, wall, &package.rows, &samples))
}

/// The package that each pair of stacks is in, the script's and the native one, where it is in one.
fn by_stack<'r>(analysis: &Analysis<'r>) -> FxHashMap<(u32, u32), Option<&'r str>> {
    let mut packages = FxHashMap::default();
    for sample in &analysis.recording.samples {
        let (script, native) = (sample.script_stack, sample.stack);
        packages.entry((script, native)).or_insert_with(|| place::package_called(&analysis.code, script, native));
    }
    packages
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, MS, US, WRITE, keep_alive};
    use crate::tests::names;

    const LIBRARY: &str = "/usr/lib/python3/dist-packages/yaml/scanner.py:97:check_token";
    const OWN: &str = "/srv/app.py:12:settings";
    const FRAMEWORK: &str = "/usr/lib/python3/dist-packages/flask/app.py:1484:full_dispatch_request";

    /// Twenty requests that each take so long in a script's stack, outermost frame last.
    fn working_at(frames: &[&str], each: u64) -> Vec<String> {
        let mut fixture = keep_alive(1, 50 * US);
        fixture.stack(7, &["libpython3.11.so.1.0!eval", "python3!main"]);
        fixture.script(8, frames);
        for _ in 0..20 {
            fixture.moves(CLIENT, 1, WRITE, 20);
            fixture.waits_for(CLIENT, 1, 100 * US, 100);
            let first = fixture.recording.samples.len();
            fixture.computes(CLIENT, each, 7);
            fixture.recording.samples[first..].iter_mut().for_each(|sample| sample.script_stack = 8);
            fixture.waits_for(CLIENT, 1, 10 * US, 1000);
        }
        names(&fixture.end())
    }

    #[test]
    fn a_package_that_a_handler_calls_is_found() {
        assert_eq!(working_at(&[LIBRARY, OWN, FRAMEWORK], 20 * MS), ["hot-library"]);
    }

    #[test]
    fn a_little_a_framework_and_the_programs_own_work_are_left_alone() {
        assert_eq!(working_at(&[LIBRARY, OWN, FRAMEWORK], 2 * MS), Vec::<String>::new());
        assert_eq!(working_at(&[LIBRARY, OWN], 20 * MS), Vec::<String>::new());
        assert_eq!(working_at(&[OWN, FRAMEWORK], 20 * MS), Vec::<String>::new());
    }
}
