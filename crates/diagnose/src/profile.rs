//! A profile: a call tree of CPU time from the samples of one or several recordings, and its sums by library and
//! by function.
//!
//! Each sample stands for one period of CPU time. Time in the kernel is a leaf under the stack that called it;
//! what every thread begins with (`_start`, the C library's own start of a program or thread) is left out; a stack that
//! was cut short continues where a whole stack has its outermost function, else it stands under a frame that says so.

mod gather;
pub(crate) mod naming;
mod tree;

pub(crate) use gather::{Gathered, Sampled, fold, kernel_frame, without_start};
pub use tree::{Frame, Time};
pub(crate) use tree::{ROOT, Tree, children_of_both};

use case::Recording;
use naming::Names;
use std::collections::BTreeMap;

/// The function of a frame that stands for callers nobody knows.
pub const CUT_SHORT: &str = "(callers not known)";

/// CPU time by call chain, by library and by function.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// CPU time of all samples, in nanoseconds.
    pub total_ns: u64,
    /// How many samples there are.
    pub samples: u64,
    /// By library or program; the C library's and the kernel's time is charged to the first caller that is neither.
    pub libraries: BTreeMap<String, Time>,
    /// By function, callees included; a function that is several times on a stack counts once.
    pub inclusive: BTreeMap<Frame, Time>,
    /// By function, without callees.
    pub own: BTreeMap<Frame, Time>,
    /// By function, how many others are above it on a stack: summed over samples.
    pub(crate) callers: BTreeMap<Frame, u64>,
    pub(crate) tree: Tree,
    pub(crate) runs: Runs,
}

/// The same time, each recording by itself: how far it varies from run to run. In nanoseconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Runs {
    /// Of all samples.
    pub total: Vec<u64>,
    /// By library or program.
    pub libraries: BTreeMap<String, Vec<u64>>,
    /// By function, callees included.
    pub inclusive: BTreeMap<Frame, Vec<u64>>,
    /// By function, without callees.
    pub own: BTreeMap<Frame, Vec<u64>>,
}

/// The profile of some recordings, summed up.
pub fn profile(recordings: &[Recording]) -> Profile {
    renamed(recordings, Names::AS_RECORDED)
}

/// The profile of some recordings, their code under other names.
pub(crate) fn renamed(recordings: &[Recording], names: Names) -> Profile {
    let mut gathered = Gathered::default();
    for recording in recordings {
        gathered.add(recording, names);
    }
    let mut profile = Profile::default();
    let nothing = vec![0; gathered.runs];
    profile.runs.total.clone_from(&nothing);
    let outer = gathered.outer_frames();
    for stack in &gathered.stacks {
        let path = stack.rooted(&outer);
        let frame = |number: &u32| gathered.frames[*number as usize].clone();
        profile.total_ns += stack.time.ns;
        profile.samples += stack.time.samples;
        *profile.libraries.entry(stack.charged.clone()).or_default() += stack.time;
        profile.runs.total[stack.run] += stack.time.ns;
        let of_library = profile.runs.libraries.entry(stack.charged.clone());
        of_library.or_insert_with(|| nothing.clone())[stack.run] += stack.time.ns;
        for (above, number) in path.iter().enumerate().filter(|(above, number)| !path[..*above].contains(number)) {
            *profile.callers.entry(frame(number)).or_default() += above as u64 * stack.time.samples;
            *profile.inclusive.entry(frame(number)).or_default() += stack.time;
            let of_function = profile.runs.inclusive.entry(frame(number));
            of_function.or_insert_with(|| nothing.clone())[stack.run] += stack.time.ns;
        }
        if let Some(leaf) = path.last() {
            *profile.own.entry(frame(leaf)).or_default() += stack.time;
            profile.runs.own.entry(frame(leaf)).or_insert_with(|| nothing.clone())[stack.run] += stack.time.ns;
        }
        profile.tree.add(&path, stack.time);
    }
    profile.inclusive.retain(|frame, _| frame.function != CUT_SHORT);
    profile.tree.frames = gathered.frames;
    profile
}

#[cfg(test)]
mod tests;
