//! A program that was compiled without optimization.

use super::{INSTRUMENTED, SAMPLES};
use crate::analysis::{Analysis, PotentialSaving};
use crate::code::base_name;
use crate::detectors::{Found, common_place, rows};
use case::tables::{Location, Sample, kind};
use case::{Nanos, Share};
use std::collections::{BTreeMap, BTreeSet};

/// Functions of a program keep their arguments in memory if so much of its own time is in such ones. Those without arguments
/// cannot be told.
const MOST: f64 = 0.5;

/// One such function alone may be a whim of its author's; then nearly all of the time must be in it.
const NEARLY_ALL: f64 = 0.9;

/// Rust's accessors are put inline wherever anything is optimized. A tenth of the time in some that were called is no accident.
const A_TENTH: f64 = 0.1;

/// What Rust's accessors begin with: steps of a range or a slice, indices and pointers,
const ACCESSORS: [&str; 7] = [
    "core::iter::range::",
    "<core::ops::range::Range",
    "<core::slice::iter::Iter",
    "core::slice::index::",
    "<usize as core::slice::index::",
    "core::ptr::const_ptr::",
    "core::ptr::mut_ptr::",
];

/// and how they end. Others of these types can be long enough to stay functions.
const ENDS: [&str; 7] = ["::next", "::spec_next", "::index", "::index_mut", "::get_unchecked", "::add", "::is_null"];

/// The samples of one executable or library, by its own functions.
#[derive(Default)]
struct Built<'r> {
    all: Vec<(usize, &'r Sample)>,
    in_memory: usize,
    functions: BTreeSet<&'r str>,
    accessors: usize,
}

impl Built<'_> {
    /// Whether its functions are as no optimizing compiler leaves them.
    fn is_unoptimized(&self) -> bool {
        let share = |count: usize| count as f64 / self.all.len().max(1) as f64;
        let least = if self.functions.len() > 1 { MOST } else { NEARLY_ALL };
        share(self.in_memory) >= least || share(self.accessors) >= A_TENTH
    }
}

pub(super) fn detect(analysis: &Analysis) -> Option<Found> {
    let mut modules: BTreeMap<&str, Built> = BTreeMap::new();
    for (row, sample) in analysis.recording.samples.iter().enumerate() {
        // The time of a library's function is none of its caller's build.
        let leaf = analysis.code.frames(sample.stack).next();
        let Some(leaf) = leaf.filter(|leaf| leaf.kind == kind::NATIVE && !leaf.is_libc) else { continue };
        let built = modules.entry(&leaf.module).or_default();
        built.all.push((row, sample));
        if leaf.stores_arguments {
            built.in_memory += 1;
            built.functions.insert(&leaf.function);
        }
        built.accessors += usize::from(is_accessor(leaf));
    }
    let (module, built) = modules
        .into_iter()
        .filter(|(_, built)| built.all.len() >= SAMPLES && built.is_unoptimized())
        .max_by_key(|(_, built)| built.all.len())?;
    let period = analysis.sample_period();
    let within = built.all.iter().filter(|(_, sample)| analysis.is_for_requests(sample)).count() as u64 * period;
    let wall = within.min(analysis.exchange_wall());
    let share = Nanos(wall).share_of(Nanos(analysis.exchange_wall()));
    (share.0 >= INSTRUMENTED).then(|| found(analysis, module, &built, (wall, share)))
}

fn is_accessor(leaf: &Location) -> bool {
    let begins = ACCESSORS.iter().any(|accessor| leaf.function.starts_with(accessor));
    begins && ENDS.iter().any(|end| leaf.function.ends_with(end))
}

fn found(analysis: &Analysis, module: &str, built: &Built, (wall, share): (u64, Share)) -> Found {
    let count = analysis.exchanges.len().max(1) as u64;
    let samples: Vec<&Sample> = built.all.iter().map(|(_, sample)| *sample).collect();
    let place = common_place(analysis, &samples);
    let what = format!("{} was compiled without optimization", base_name(module));
    let shown = |part: usize| Share(part as f64 / samples.len().max(1) as f64);
    let evidence = if built.accessors > built.in_memory {
        format!(
            "{} of its samples are in accessors of Rust's library that were called one by one; a release build has none of them.",
            shown(built.accessors)
        )
    } else {
        format!(
            "{} of its samples are in functions that store their arguments in memory and load them from there, as compilers \
             write them for a debugger (-O0).",
            shown(built.in_memory)
        )
    };
    Found {
        title: format!(
            "{what}: up to {} of every {} request{}",
            Nanos(wall / count),
            Nanos(analysis.exchange_wall() / count),
            place.in_words(),
        ),
        what,
        mechanism: vec![
            format!("{share} of the requests' time is spent in its own code: {} samples.", samples.len()),
            evidence,
            "What it would take with optimization, only another build shows.".to_string(),
        ],
        saving: PotentialSaving {
            wall,
            outside: 0,
            cpu: samples.len() as u64 * analysis.sample_period(),
            affected: count,
        },
        place,
        remedy:
            "Build it with optimization: -O2 for C and C++ (CMAKE_BUILD_TYPE=Release), cargo build --release for Rust."
                .to_string(),
        rows: rows("samples", built.all.iter().map(|(row, _)| *row)),
        ..Found::default()
    }
}
