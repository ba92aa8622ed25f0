//! Work of the kernel's that takes much of the requests' time, whoever looks for it.

use super::{Found, common_place, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::kernel_work::doing;
use case::{KernelWork, Nanos};

/// Less of the requests' time is what such work costs everywhere.
const FELT: f64 = 0.1;

/// Fewer samples than this say little about a share: 20 ms at the usual rate.
const SAMPLES: usize = 20;

/// What is said of it.
pub(super) struct Words {
    /// What is wrong.
    pub what: &'static str,
    /// In what the time is spent.
    pub spent_in: &'static str,
    /// What to do about it.
    pub remedy: &'static str,
}

/// Where one kind of work takes a tenth of the requests' time or more.
pub(super) fn found(analysis: &Analysis, work: KernelWork, words: &Words) -> Option<Found> {
    let found = doing(analysis, work);
    let share = Nanos(found.wall).share_of(Nanos(analysis.exchange_wall()));
    if found.samples.len() < SAMPLES || share.0 < FELT {
        return None;
    }
    let count = analysis.exchanges.len().max(1) as u64;
    let place = common_place(analysis, &found.samples);
    let Words { what, spent_in, remedy } = words;
    Some(Found {
        title: format!(
            "{what}: {} of every {} request{}",
            Nanos(found.wall / count),
            Nanos(analysis.exchange_wall() / count),
            place.in_words()
        ),
        what: (*what).to_string(),
        mechanism: vec![format!(
            "{share} of the requests' time is spent in {spent_in}: {} samples.",
            found.samples.len()
        )],
        saving: PotentialSaving { wall: found.wall, outside: 0, cpu: found.cpu, affected: count },
        place,
        remedy: (*remedy).to_string(),
        explains: analysis.stretches(&found.samples),
        rows: rows("samples", found.rows),
        ..Found::default()
    })
}
