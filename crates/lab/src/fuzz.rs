//! Doors for fuzzers: each takes any bytes, gives no answer, and must come back.

use case::fuzz::Target;

use crate::{Asked, Link, Rate, TrialSpec, Vary, bisect, worlds};

/// What the bytes are given to, by name.
pub const TARGETS: [(&str, Target); 3] = [("packages", packages), ("trials", trials), ("worlds", worlds)];

/// What dpkg and apt keep: the status file, lists of files, sources; and what a loader prints.
fn packages(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    worlds::fuzz(&text);
    bisect::fuzz(&text);
}

/// A trial's file, and the recipe of a library.
fn trials(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(spec) = TrialSpec::read(&text) {
        spec.redacted().write();
    }
    let _ = crate::matrix::Source::read(&text);
}

/// What is typed: worlds, links, rates, values to vary, interventions.
fn worlds(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for line in text.lines() {
        let _ = line.parse::<worlds::WorldName>();
        let _ = line.parse::<Link>();
        let _ = line.parse::<Rate>();
        let _ = line.parse::<Asked>();
        let _ = Vary::parse(line);
        if let Some((key, value)) = line.split_once('=') {
            let _ = crate::Change::read(key, value);
        }
    }
}
