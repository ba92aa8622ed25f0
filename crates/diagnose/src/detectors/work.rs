//! Work of one kind that requests wait for, all through the run, as CPU samples show it.

use crate::analysis::Analysis;
use case::tables::Sample;
use case::{Nanos, Share};
use std::collections::BTreeMap;

/// The requests are divided into so many parts, in order of time,
const PARTS: usize = 4;

/// and each has at least this part of the samples that it would have if they were spread evenly: what is made once and
/// kept is made in the first ones.
const EVENLY: f64 = 0.25;

/// Whether samples are spread over all requests.
pub(super) fn goes_on(analysis: &Analysis, samples: &[&Sample]) -> bool {
    let starts = analysis.exchanges.iter().map(|exchange| exchange.start).collect::<Vec<_>>();
    if starts.len() < PARTS {
        return false;
    }
    let mut counts = [0usize; PARTS];
    for sample in samples {
        let begun = starts.partition_point(|&start| start <= sample.time.0).max(1) - 1;
        counts[begun * PARTS / starts.len()] += 1;
    }
    counts.iter().all(|&count| count as f64 * PARTS as f64 >= EVENLY * samples.len() as f64)
}

/// Work of one kind that requests wait for, as CPU samples show it.
pub(super) struct Work<'r> {
    /// Rows of the table of samples.
    pub(super) rows: Vec<usize>,
    /// The rows.
    pub(super) samples: Vec<&'r Sample>,
    /// How long requests wait for it, in nanoseconds.
    pub(super) wall: u64,
    /// That of all that they take.
    pub(super) share: Share,
}

/// Fewer samples than this say little about a share: 50 ms at the usual rate.
const SAMPLES: usize = 50;

/// The samples within requests of work that a test tells by its stacks (script, native); none where they are few, less than a
/// part of the requests' time, or not spread over all requests.
pub(super) fn work_in_requests<'r>(
    analysis: &Analysis<'r>,
    least: f64,
    is_it: impl Fn(&Sample) -> bool,
) -> Option<Work<'r>> {
    let mut kinds: BTreeMap<(u32, u32), bool> = BTreeMap::new();
    let mut is_it = |one: &Sample| *kinds.entry((one.script_stack, one.stack)).or_insert_with(|| is_it(one));
    let numbered = analysis.recording.samples.iter().enumerate().filter(|(_, one)| is_it(one));
    let (rows, samples): (Vec<usize>, Vec<&Sample>) = numbered.filter(|(_, one)| analysis.is_for_requests(one)).unzip();
    let wall = (samples.len() as u64 * analysis.sample_period()).min(analysis.exchange_wall());
    let share = Nanos(wall).share_of(Nanos(analysis.exchange_wall()));
    let counts = samples.len() >= SAMPLES && share.0 >= least && goes_on(analysis, &samples);
    counts.then_some(Work { rows, samples, wall, share })
}
