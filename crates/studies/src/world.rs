//! `world`: worlds made, listed, entered and removed by hand.

mod running;

pub use running::run;

use crate::{Activity, Console, StudyError};
use case::{WorldEntry, Worlds};
use lab::LabError;
use lab::worlds::{Made, Packages, Ready, Store, Wanted, WorldName, prepare};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

/// What `st_blocks` counts in (stat(2)).
const BLOCK_BYTES: u64 = 512;

fn kept_in(store: &Store, worlds: Vec<WorldEntry>) -> Worlds {
    Worlds::of(store.root_of_worlds().display().to_string(), worlds)
}

/// What is kept.
///
/// # Errors
/// Where the folder of worlds cannot be read.
pub fn list(store: &Store) -> Result<Worlds, StudyError> {
    Ok(kept_in(store, store.worlds()?.iter().map(listed).collect()))
}

/// Makes a world that has these programs and packages, if it is not there yet. `folder` is where relative names begin.
///
/// # Errors
/// Where it cannot be made, or the user wants an end.
pub fn make(
    name: &WorldName,
    (command, packages): (&[String], &[String]),
    folder: &Path,
    store: &Store,
    console: &dyn Console,
) -> Result<Ready, StudyError> {
    let wanted = Wanted { command, packages, folder, build: None, user: None };
    let activity = Activity::of(console, &format!("looking for {name}"));
    let mut wait = |longest: Duration| console.next(longest).is_some();
    prepare(name, &wanted, store, &|words| activity.say(words), &mut wait).map_err(|error| match error {
        LabError::Interrupted => StudyError::WorldInterrupted,
        other => other.into(),
    })
}

/// A world that was made, as the list has it.
///
/// # Errors
/// Where the folder of worlds cannot be read.
pub fn made(ready: &Ready, store: &Store) -> Result<Worlds, StudyError> {
    let kept = store.worlds()?.into_iter().find(|world| world.files == ready.base);
    let world = kept.as_ref().map_or_else(|| not_kept(ready), listed);
    Ok(kept_in(store, vec![world]))
}

/// Removes the world of a name, or all of them with the packages that were downloaded: what was removed.
///
/// # Errors
/// Where there is none of that name, or it cannot be removed.
pub fn remove(name: Option<&str>, store: &Store) -> Result<Worlds, StudyError> {
    let is_meant = |world: &Made| name.is_none_or(|name| name == world.name);
    let removed = store.worlds()?.iter().filter(|world| is_meant(world)).map(listed).collect();
    match name {
        Some(name) => store.remove(name)?,
        None => store.clear()?,
    }
    Ok(kept_in(store, removed))
}

fn listed(world: &Made) -> WorldEntry {
    WorldEntry {
        name: world.name.clone(),
        folder: world.tree.display().to_string(),
        title: format!("Debian {}", world.descriptor.suite),
        packages: Packages::named(&world.files).map_or(0, |packages| packages.len()),
        bytes: bytes_in(&world.files),
        made: world.descriptor.made,
        is_unchanged: world.is_unchanged(),
    }
}

fn not_kept(ready: &Ready) -> WorldEntry {
    WorldEntry {
        name: ready.name.to_string(),
        folder: ready.base.display().to_string(),
        title: ready.title.clone(),
        packages: Packages::named(&ready.base).map_or(0, |packages| packages.len()),
        bytes: 0,
        made: 0,
        is_unchanged: true,
    }
}

/// The room that a folder takes.
fn bytes_in(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let bytes = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => bytes_in(&entry.path()) + found.blocks() * BLOCK_BYTES,
        Ok(found) => found.blocks() * BLOCK_BYTES,
        Err(_) => 0,
    };
    entries.flatten().map(bytes).sum()
}
