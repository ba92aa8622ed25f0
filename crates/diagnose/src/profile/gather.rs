//! From samples to stacks of numbered functions, outermost first, each with its CPU time.

use super::CUT_SHORT;
use super::tree::{Frame, Time};
use crate::code::{Code, KERNEL_MODULE, UNKNOWN_MODULE, base_name};
use crate::profile::naming::Names;
use crate::syscall;
use case::Recording;
use case::tables::{Location, Sample};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Functions that call each other in a ring of up to so many are folded; longer rings are rare, and shown.
const LONGEST_CYCLE: usize = 6;

/// A stack that samples were taken in.
pub struct Sampled {
    /// Its functions, outermost first.
    pub path: Vec<u32>,
    /// Whether its outermost function is its thread's first; none where the callers are not known.
    pub complete: bool,
    /// The frame that stands above, for a stack that is not complete.
    pub program: u32,
    /// The module that its time is charged to.
    pub charged: String,
    /// Its CPU time.
    pub time: Time,
    /// The place of its recording among all.
    pub run: usize,
}

/// All stacks of some recordings.
#[derive(Default)]
pub struct Gathered {
    /// What the functions' numbers mean.
    pub frames: Vec<Frame>,
    numbers: FxHashMap<Frame, u32>,
    /// The stacks, in order of recordings and of their own numbers.
    pub stacks: Vec<Sampled>,
    /// Recordings added.
    pub runs: usize,
}

/// What tells one kind of sample from another: the stack, the process where there is none, the kernel's part.
type Kind = (u32, u32, Option<u16>);

impl Gathered {
    /// Adds the samples of a recording whose tables are in order.
    pub fn add(&mut self, recording: &Recording, names: Names) {
        let code = Code::new(recording);
        let period = 1_000_000_000 / u64::from(recording.manifest.sampling_hertz.max(1));
        let mut kinds: BTreeMap<Kind, (u64, &Sample)> = BTreeMap::new();
        for sample in &recording.samples {
            let kernel = sample.kernel.then_some(sample.call_plus_one);
            kinds.entry((sample.stack, sample.pid, kernel)).or_insert((0, sample)).0 += 1;
        }
        let mut by_location: FxHashMap<u32, u32> = FxHashMap::default();
        for (_, (samples, sample)) in kinds {
            let mut path: Vec<u32> = Vec::new();
            for location in without_start(&code.frames(sample.stack).collect::<Vec<_>>()) {
                let number = *by_location.entry(location.id).or_insert_with(|| self.number(names.frame(location)));
                path.push(number);
                fold(&mut path);
            }
            let complete = code.is_complete(sample.stack);
            let program = program_of(recording, sample);
            let program = self.number(Frame { function: CUT_SHORT.to_string(), module: names.module(program) });
            let innermost = code.frames(sample.stack).next();
            path.extend(sample.kernel.then(|| self.number(kernel_frame(sample, innermost))));
            let charged = names.module(code.module_name(code.caller_of(sample)));
            let time = Time { ns: samples * period, samples };
            self.stacks.push(Sampled { path, complete, program, charged, time, run: self.runs });
        }
        self.runs += 1;
    }

    /// A function's number.
    pub fn number(&mut self, frame: Frame) -> u32 {
        if let Some(&number) = self.numbers.get(&frame) {
            return number;
        }
        let number = self.frames.len() as u32;
        self.numbers.insert(frame.clone(), number);
        self.frames.push(frame);
        number
    }

    /// For each function the callers above it in most samples of whole stacks, counted where it is outermost.
    pub fn outer_frames(&self) -> FxHashMap<u32, Vec<u32>> {
        let wanted: std::collections::BTreeSet<u32> = self
            .stacks
            .iter()
            .filter(|stack| !stack.complete)
            .filter_map(|stack| stack.path.first().copied())
            .collect();
        let mut above: BTreeMap<(u32, &[u32]), u64> = BTreeMap::new();
        for stack in self.stacks.iter().filter(|stack| stack.complete) {
            for (at, frame) in stack.path.iter().enumerate() {
                if wanted.contains(frame) && !stack.path[..at].contains(frame) {
                    *above.entry((*frame, &stack.path[..at])).or_default() += stack.time.samples;
                }
            }
        }
        let mut best: FxHashMap<u32, (u64, &[u32])> = FxHashMap::default();
        for ((frame, callers), samples) in above {
            let most = best.entry(frame).or_default();
            if samples > most.0 {
                *most = (samples, callers);
            }
        }
        best.into_iter().map(|(frame, (_, callers))| (frame, callers.to_vec())).collect()
    }
}

impl Sampled {
    /// The stack from its thread's first function; from a frame that says so where that is not known.
    pub fn rooted(&self, outer: &FxHashMap<u32, Vec<u32>>) -> Vec<u32> {
        if self.complete {
            return self.path.clone();
        }
        let above = self.path.first().and_then(|frame| outer.get(frame));
        let above = above.map_or(std::slice::from_ref(&self.program), Vec::as_slice);
        above.iter().chain(&self.path).copied().collect()
    }
}

/// A stack outermost first, without what every thread begins with.
pub fn without_start<'l>(innermost_first: &[&'l Location]) -> Vec<&'l Location> {
    let mut frames: Vec<&Location> = innermost_first.iter().rev().copied().collect();
    let starts = |frame: &Location| frame.is_libc && frame.function.starts_with("__libc_start_main");
    let entry = frames.len() > 1 && (frames[0].function == "_start" || starts(frames[1]));
    let libc = frames.iter().skip(usize::from(entry)).take_while(|frame| frame.is_libc).count();
    let start = usize::from(entry) + libc;
    // A stack within the loader or the C library alone is shown whole.
    if start < frames.len() {
        frames.drain(..start);
    }
    frames
}

/// Takes a repetition off the end of a path: functions that call each other are there once, however deep.
pub fn fold(path: &mut Vec<u32>) {
    let repeats = |length: &usize| {
        let (Some(last), Some(before)) = (path.len().checked_sub(*length), path.len().checked_sub(2 * length)) else {
            return false;
        };
        path[before..last] == path[last..]
    };
    if let Some(length) = (1..=LONGEST_CYCLE).find(repeats) {
        path.truncate(path.len() - length);
    }
}

/// The kernel's part of a stack. Entering and leaving it takes time before the call is known to have begun and after it
/// is known to have ended: under the C library's function for a call this time is the call's too.
pub fn kernel_frame(sample: &Sample, innermost: Option<&Location>) -> Frame {
    let wrapper = innermost.filter(|location| location.is_libc).map(|location| {
        location.function.trim_start_matches("__GI_").trim_start_matches("__libc_").trim_start_matches('_')
    });
    let function = match sample.call_plus_one.checked_sub(1) {
        Some(number) => syscall::name(number),
        None => wrapper.filter(|name| syscall::is_name(name)).unwrap_or("page fault or interrupt").to_string(),
    };
    Frame { function, module: KERNEL_MODULE.to_string() }
}

fn program_of<'r>(recording: &'r Recording, sample: &Sample) -> &'r str {
    let process = recording.processes.iter().rev().find(|row| row.pid == sample.pid);
    process.map_or(UNKNOWN_MODULE, |row| base_name(&row.executable))
}
