//! Stacks with their time, by the program that they were seen in.

use super::call_path::CallPath;
use super::program::{executable, root};
use crate::code::Code;
use crate::images::Images;
use crate::profile::naming::Names;
use crate::profile::{CUT_SHORT, Frame, Gathered, Sampled, Time, Tree, fold, kernel_frame};
use case::Recording;
use case::tables::Sample;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Stands for the functions of a moment of which no stack was copied.
pub const NO_STACK: &str = "(stack not known)";

/// The stacks of each program, by its root.
#[derive(Default)]
pub struct Programs {
    stacks: BTreeMap<Frame, Gathered>,
}

/// A moment's program, its functions outermost first and what they ended in.
pub struct Moment<'l> {
    pub root: Frame,
    pub path: CallPath<'l>,
    pub leaf: Option<Frame>,
    pub time: Time,
}

impl Programs {
    /// Adds the samples of a recording whose tables are in order.
    pub fn add_samples(&mut self, recording: &Recording, names: Names) {
        let (code, images) = (Code::new(recording), Images::new(recording));
        let period = super::period(recording);
        let mut kinds: BTreeMap<_, (u64, &Sample)> = BTreeMap::new();
        for sample in &recording.samples {
            let kernel = sample.kernel.then_some(sample.call_plus_one);
            let image = images.at(sample.pid, sample.time.0).map(|row| (row.pid, row.start));
            kinds.entry((sample.stack, sample.script_stack, image, kernel)).or_insert((0, sample)).0 += 1;
        }
        for (samples, sample) in kinds.into_values() {
            let process = images.at(sample.pid, sample.time.0);
            let innermost = code.frames(sample.stack).next();
            let leaf = sample.kernel.then(|| kernel_frame(sample, innermost));
            let path = CallPath::new(&code, sample.stack, sample.script_stack, executable(process));
            let time = Time { ns: samples * period, samples };
            self.add(Moment { root: root(process, names), path, leaf, time }, names);
        }
    }

    /// Adds what was seen at a moment.
    pub fn add(&mut self, moment: Moment, names: Names) {
        let Moment { root, path, leaf, time } = moment;
        let module = root.module.clone();
        let gathered = self.stacks.entry(root).or_default();
        let mut numbers: Vec<u32> = Vec::new();
        for place in &path.places {
            numbers.push(gathered.number(names.frame(place)));
            fold(&mut numbers);
        }
        let known = !numbers.is_empty();
        if !known {
            numbers.push(gathered.number(Frame { function: NO_STACK.to_string(), module: module.clone() }));
        }
        numbers.extend(leaf.map(|leaf| gathered.number(leaf)));
        let program = gathered.number(Frame { function: CUT_SHORT.to_string(), module });
        let (complete, charged) = (path.complete || !known, String::new());
        gathered.stacks.push(Sampled { path: numbers, complete, program, charged, time, run: 0 });
    }

    /// The time of all stacks.
    pub fn time(&self) -> Time {
        let mut whole = Time::default();
        self.stacks.values().flat_map(|gathered| &gathered.stacks).for_each(|stack| whole += stack.time);
        whole
    }

    /// How many samples there are.
    pub fn samples(&self) -> u64 {
        self.time().samples
    }

    /// One tree of all programs.
    pub fn tree(&self) -> Tree {
        let mut tree = Tree::default();
        let mut numbers: FxHashMap<Frame, u32> = FxHashMap::default();
        for (root, gathered) in &self.stacks {
            let outer = gathered.outer_frames();
            let mut common = |frame: &Frame| {
                let next = tree.frames.len() as u32;
                *numbers.entry(frame.clone()).or_insert_with(|| {
                    tree.frames.push(frame.clone());
                    next
                })
            };
            let root = common(root);
            let common: Vec<u32> = gathered.frames.iter().map(common).collect();
            for stack in &gathered.stacks {
                let path = stack.rooted(&outer).into_iter().map(|number| common[number as usize]);
                tree.add(&std::iter::once(root).chain(path).collect::<Vec<_>>(), stack.time);
            }
        }
        tree
    }
}
