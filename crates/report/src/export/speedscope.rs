//! The CPU samples for speedscope.app: one sampled profile a thread, each sample weighing the CPU time that it
//! stands for. The format: <https://www.speedscope.app/file-format-schema.json>.

use super::code::{Code, function};
use super::programs::{Programs, base_name};
use crate::command::command;
use crate::text::clean;
use case::Recording;
use case::tables::{Location, Sample, kind};
use serde::Serialize;
use std::collections::BTreeMap;

/// Where the format is described.
const SCHEMA: &str = "https://www.speedscope.app/file-format-schema.json";

/// The whole file.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct File {
    #[serde(rename = "$schema")]
    schema: &'static str,
    name: String,
    exporter: String,
    active_profile_index: usize,
    shared: Shared,
    profiles: Vec<Profile>,
}

/// What all profiles refer to.
#[derive(Serialize)]
struct Shared {
    frames: Vec<Frame>,
}

/// One function, or one line of a script's function.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
struct Frame {
    name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

/// One thread.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Profile {
    #[serde(rename = "type")]
    kind: &'static str,
    name: String,
    unit: &'static str,
    start_value: u64,
    end_value: u64,
    /// Each a list of frames, outermost first.
    samples: Vec<Vec<usize>>,
    weights: Vec<u64>,
}

/// The profiles as JSON.
pub fn speedscope(recording: &Recording) -> String {
    let (code, programs) = (Code::of(recording), Programs::of(recording));
    let mut frames = Frames::default();
    let mut profiles = Vec::new();
    for samples in recording.samples.chunk_by(|one, next| one.tid == next.tid) {
        profiles.push(profile(recording, samples, &code, &programs, &mut frames));
    }
    // The thread with most samples is the one to look at first; the first one of several.
    let most = profiles.iter().enumerate().rev().max_by_key(|(_, profile)| profile.samples.len());
    let file = File {
        schema: SCHEMA,
        name: command(&recording.manifest.command),
        exporter: format!("whyslow {}", clean(&recording.manifest.whyslow)),
        active_profile_index: most.map_or(0, |(index, _)| index),
        shared: Shared { frames: frames.list },
        profiles,
    };
    // Numbers and text only: that cannot fail.
    serde_json::to_string(&file).unwrap_or_default() + "\n"
}

fn profile(
    recording: &Recording,
    samples: &[Sample],
    code: &Code,
    programs: &Programs,
    frames: &mut Frames,
) -> Profile {
    let first = &samples[0];
    let thread = recording.threads.iter().find(|thread| thread.tid == first.tid);
    let name = thread.map_or_else(String::new, |thread| format!(", thread {}", clean(&thread.name)));
    let period = 1_000_000_000 / u64::from(recording.manifest.sampling_hertz.max(1));
    let stacks = samples.iter().map(|sample| {
        let path = code.path(sample);
        if path.is_empty() { vec![frames.unknown()] } else { path.iter().map(|place| frames.number(place)).collect() }
    });
    Profile {
        kind: "sampled",
        name: format!("{}{name} ({})", programs.name(first.pid, first.time), first.tid),
        unit: "nanoseconds",
        start_value: 0,
        end_value: period * samples.len() as u64,
        samples: stacks.collect(),
        weights: vec![period; samples.len()],
    }
}

/// Frames in order of their numbers.
#[derive(Default)]
struct Frames {
    list: Vec<Frame>,
    numbers: BTreeMap<Frame, usize>,
    of_location: BTreeMap<u32, usize>,
}

impl Frames {
    fn number(&mut self, location: &Location) -> usize {
        if let Some(number) = self.of_location.get(&location.id) {
            return *number;
        }
        let number = self.numbered(frame(location));
        self.of_location.insert(location.id, number);
        number
    }

    /// For a sample without a stack.
    fn unknown(&mut self) -> usize {
        self.numbered(Frame { name: "stack not known".into(), file: String::new(), line: None })
    }

    fn numbered(&mut self, frame: Frame) -> usize {
        let next = self.list.len();
        let number = *self.numbers.entry(frame.clone()).or_insert(next);
        if number == next {
            self.list.push(frame);
        }
        number
    }
}

/// A function of compiled code is one frame, whichever of its instructions; of a script each line is.
fn frame(location: &Location) -> Frame {
    let is_script = location.kind == kind::SCRIPT;
    let file = if location.file.is_empty() || !is_script { base_name(&location.module) } else { &location.file };
    let line = (is_script && location.line > 0).then_some(location.line);
    Frame { name: function(location), file: clean(file), line }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::fixture::recording;
    use serde_json::Value;

    #[test]
    fn weights_are_the_time_that_samples_stand_for_and_frames_are_shared() {
        let file = serde_json::from_str::<Value>(&speedscope(&recording())).expect("JSON");
        assert_eq!((&file["$schema"], &file["activeProfileIndex"]), (&SCHEMA.into(), &0.into()));
        let [client, server] = file["profiles"].as_array().expect("profiles").as_slice() else { panic!("{file}") };
        assert_eq!(client["weights"], serde_json::json!([1_000_000, 1_000_000]));
        assert_eq!((&client["endValue"], &client["unit"]), (&2_000_000.into(), &"nanoseconds".into()));
        let name = |profile: &Value, depth: usize| {
            let frame = profile["samples"][0][depth].as_u64().expect("an index");
            file["shared"]["frames"][frame as usize]["name"].as_str().expect("a name").to_string()
        };
        // The script's lines stand in the place of what runs them; the server has none.
        assert_eq!((name(client, 1), name(client, 2)), ("post".into(), "encode".into()));
        assert_eq!((name(server, 0), name(server, 2)), ("main".into(), "encode".into()));
        assert!(!file.to_string().contains("u001b"));
    }
}
