//! Fuzzers. A target is a function that takes any bytes and comes back: no panic, no memory without bounds, no time without an
//! end. The functions stand beside what they try (`fuzz.rs` of each crate); the seeds, real inputs, in `fuzz/seeds/TARGET`.
//!
//! `make fuzz` drives them by coverage (cargo-fuzz) where a nightly compiler is there, else by chance (`tests/mutations.rs`), which
//! is also what `make test-fast` does for a moment.

pub use case::fuzz::Target;
use std::path::{Path, PathBuf};

/// All targets by name.
pub fn targets() -> impl Iterator<Item = (&'static str, Target)> {
    let case = case::fuzz::TARGETS.into_iter();
    let lab = lab::fuzz::TARGETS.into_iter();
    case.chain(protocol::fuzz::TARGETS)
        .chain(import::fuzz::TARGETS)
        .chain(record::fuzz::TARGETS)
        .chain(lab)
        .chain(load::fuzz::TARGETS)
        .chain(studies::fuzz::TARGETS)
}

/// The target of a name.
pub fn target(name: &str) -> Option<Target> {
    targets().find(|(other, _)| *other == name).map(|(_, target)| target)
}

/// A reader of somebody else's that panics over a damaged table is caught, and that is no finding: what was there for panics before,
/// which may end the process, is not called.
pub fn keep_quiet_about_damage() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !case::is_damage_found() {
            before(panic);
        }
    }));
}

/// Where a target's seeds are.
pub fn seeds_folder(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../seeds").join(target)
}

/// A target's seeds, in order.
///
/// # Errors
/// Where the folder or a seed cannot be read.
pub fn seeds(target: &str) -> std::io::Result<Vec<Vec<u8>>> {
    let entries = std::fs::read_dir(seeds_folder(target))?;
    let mut files = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    files.sort();
    files.iter().map(std::fs::read).collect()
}
