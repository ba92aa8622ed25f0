//! The CPU samples for profiler.firefox.com, in the format that it calls processed: processes, threads, samples with
//! stacks and the CPU time each stands for, and markers for blocking calls and exchanges.

mod frames;
mod markers;

use super::Known;
use super::clock::Clock;
use super::code::Code;
use super::programs::{Programs, base_name, program};
use crate::command::command;
use crate::text::clean;
use case::tables::{Process, Sample, Thread};
use case::{Nanos, Recording};
use frames::Frames;
use fxprof_processed_profile::{
    CpuDelta, ProcessHandle, Profile, ReferenceTimestamp, SamplingInterval, ThreadHandle, Timestamp,
};
use std::collections::BTreeMap;
use std::time::Duration;

/// The profile as JSON.
pub fn firefox_profile(recording: &Recording, known: &Known) -> String {
    let origin = origin(recording);
    let mut profile = empty(recording, origin);
    let threads = add_threads(&mut profile, recording, origin);
    let code = Code::of(recording);
    let mut frames = Frames::of(&mut profile, recording);
    for samples in recording.samples.chunk_by(|one, next| one.tid == next.tid) {
        if let Some(thread) = threads.get(&samples[0].tid) {
            add_samples(&mut profile, *thread, recording, samples, &code, &mut frames, origin);
        }
    }
    markers::add(&mut profile, recording, known, &threads, &mut frames, &code, origin);
    // Numbers and text only: that cannot fail.
    serde_json::to_string(&profile).unwrap_or_default() + "\n"
}

/// The first moment of anything in the profile: a server's threads are older than the run.
#[derive(Clone, Copy)]
struct Origin(Nanos);

impl Origin {
    fn stamp(self, time: Nanos) -> Timestamp {
        Timestamp::from_nanos_since_reference((time - self.0).0)
    }
}

fn origin(recording: &Recording) -> Origin {
    let times = recording.threads.iter().map(|thread| thread.start).chain([recording.manifest.start]);
    let samples = recording.samples.iter().map(|sample| sample.time);
    Origin(times.chain(samples).filter(|time| time.0 > 0).min().unwrap_or_default())
}

fn empty(recording: &Recording, origin: Origin) -> Profile {
    let manifest = &recording.manifest;
    let since_1970 = Duration::from_nanos(Clock::of(manifest).unix(origin.0));
    let interval = SamplingInterval::from_nanos(period(recording).0);
    let began = ReferenceTimestamp::from_duration_since_unix_epoch(since_1970);
    let mut profile = Profile::new(&command(&manifest.command), began, interval);
    profile.set_os_name(&format!("Linux {}", clean(&manifest.host.kernel)));
    profile.set_symbolicated(true);
    profile
}

/// The CPU time that a sample stands for.
fn period(recording: &Recording) -> Nanos {
    Nanos(1_000_000_000 / u64::from(recording.manifest.sampling_hertz.max(1)))
}

/// Threads by their ids. A process that ran several programs is named after the last.
fn add_threads(profile: &mut Profile, recording: &Recording, origin: Origin) -> BTreeMap<u32, ThreadHandle> {
    let programs = Programs::of(recording);
    let mut processes: BTreeMap<u32, ProcessHandle> = BTreeMap::new();
    let mut handles = BTreeMap::new();
    for thread in &recording.threads {
        let process = *processes
            .entry(thread.pid)
            .or_insert_with(|| add_process(profile, thread, programs.at(thread.pid, thread.end), origin));
        let start = origin.stamp(thread.start);
        let handle = profile.add_thread(process, thread.tid, start, thread.tid == thread.pid);
        profile.set_thread_name(handle, &clean(&thread.name));
        profile.set_thread_end_time(handle, origin.stamp(thread.end.max(thread.start)));
        handles.insert(thread.tid, handle);
    }
    handles
}

fn add_process(profile: &mut Profile, thread: &Thread, image: Option<&Process>, origin: Origin) -> ProcessHandle {
    let name = image.map_or_else(
        || format!("process {}", thread.pid),
        |image| match image.role.as_str() {
            "" | "other" => program(image),
            role => format!("{} ({})", program(image), clean(role)),
        },
    );
    profile.add_process(&name, thread.pid, origin.stamp(image.map_or(thread.start, |image| image.start)))
}

fn add_samples(
    profile: &mut Profile,
    thread: ThreadHandle,
    recording: &Recording,
    samples: &[Sample],
    code: &Code,
    frames: &mut Frames,
    origin: Origin,
) {
    let on_processor = CpuDelta::from_nanos(period(recording).0);
    for sample in samples {
        let stack = frames.stack(profile, thread, &code.path(sample));
        profile.add_sample(thread, origin.stamp(sample.time), stack, on_processor, 1);
    }
}

/// The name of the file that some code is in.
fn module(path: &str) -> String {
    clean(base_name(path))
}

#[cfg(test)]
mod tests;
