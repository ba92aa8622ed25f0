//! `whyslow world`: worlds made, listed, entered and removed by hand.

mod running;

use crate::arguments::{
    WorldAction, WorldCommandArguments, WorldMakeArguments, WorldRemoveArguments, WorldRunArguments,
};
use crate::fail::Failure;
use crate::interrupts::Interrupts;
use crate::output;
use crate::progress::Progress;
use lab::LabError;
use lab::worlds::{Made, Packages, Ready, Store, Wanted, WorldName, prepare};
use schemars::JsonSchema;
use serde::Serialize;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

/// The version of what `--json` prints.
const SCHEMA: u32 = 1;
/// What `st_blocks` counts in (stat(2)).
const BLOCK_BYTES: u64 = 512;
const MIB: u64 = 1 << 20;

/// What `--json` prints.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Kept {
    /// The contract's version.
    schema: u32,
    /// Where they are kept.
    cache: String,
    /// The worlds: all that are kept (`list`), the one that was made (`make`), those that were removed (`remove`).
    worlds: Vec<Listed>,
}

/// A world.
#[derive(Debug, Serialize, JsonSchema)]
struct Listed {
    /// Its name in the list; that by which it was asked for where it is not kept.
    name: String,
    /// The folder that holds its files.
    folder: String,
    /// What it is: the Debian release, or a sentence.
    title: String,
    /// How many packages it has.
    packages: usize,
    /// The room that it takes, in bytes; 0 where it is not kept by us.
    bytes: u64,
    /// When it was made, in seconds since 1970; 0 where it is not kept by us.
    made: u64,
    /// Whether it is as it was when it was made. One that is not is never used.
    is_unchanged: bool,
}

/// Does what was asked.
pub fn world(typed: &WorldCommandArguments) -> Result<u8, Failure> {
    let store = Store::open()?;
    match &typed.action {
        WorldAction::List => list(&store, typed.json),
        WorldAction::Make(make) => show_made(make, &store, typed.json),
        WorldAction::Run(run) => enter(run, &store),
        WorldAction::Remove(remove) => remove_worlds(remove, &store, typed.json),
    }
}

fn list(store: &Store, as_json: bool) -> Result<u8, Failure> {
    let worlds = store.worlds()?.iter().map(listed).collect::<Vec<_>>();
    let text = if as_json { json(store, worlds)? } else { lines(store, &worlds) };
    output::print(&text)?;
    Ok(0)
}

fn show_made(typed: &WorldMakeArguments, store: &Store, as_json: bool) -> Result<u8, Failure> {
    let interrupts = Interrupts::take()?;
    let ready = make(typed, &[], store, &interrupts)?;
    let kept = store.worlds()?.into_iter().find(|world| world.tree == ready.base);
    let world = kept.as_ref().map_or_else(|| not_kept(&ready), listed);
    let text = if as_json {
        json(store, vec![world])?
    } else {
        report::clean(&format!("{} is ready: {}, in {}", ready.name, ready.title, ready.base.display())) + "\n"
    };
    output::print(&text)?;
    Ok(0)
}

fn enter(typed: &WorldRunArguments, store: &Store) -> Result<u8, Failure> {
    if !nix::unistd::geteuid().is_root() {
        return Err(Failure::needs_root("enter a world", "it takes a mount namespace"));
    }
    let interrupts = Interrupts::take()?;
    let ready = make(&typed.world, &typed.command, store, &interrupts)?;
    running::run(&ready, &typed.command, &interrupts)
}

/// Makes a world ready, and says what is being done meanwhile.
fn make(
    typed: &WorldMakeArguments,
    command: &[String],
    store: &Store,
    interrupts: &Interrupts,
) -> Result<Ready, Failure> {
    let name = typed.name.parse::<WorldName>().map_err(|why| Failure::world_name(&why))?;
    let folder = std::env::current_dir().map_err(|error| Failure::internal(&format!("no working folder: {error}")))?;
    let wanted = Wanted { command, packages: &typed.package, folder: &folder, build: None, user: None };
    let progress = Progress::of(&format!("looking for {name}"));
    let mut wait = |longest: Duration| interrupts.next(longest).is_some();
    prepare(&name, &wanted, store, &|words| progress.say(words), &mut wait).map_err(|error| match error {
        LabError::Interrupted => Failure::world_interrupted(),
        other => other.into(),
    })
}

fn remove_worlds(typed: &WorldRemoveArguments, store: &Store, as_json: bool) -> Result<u8, Failure> {
    let is_meant = |world: &Made| typed.all || typed.name.as_ref() == Some(&world.name);
    let removed = store.worlds()?.iter().filter(|world| is_meant(world)).map(listed).collect::<Vec<_>>();
    match &typed.name {
        Some(name) => store.remove(name)?,
        None => store.clear()?,
    }
    let text = if as_json {
        json(store, removed)?
    } else {
        let bytes = removed.iter().map(|world| world.bytes).sum::<u64>();
        let packages = if typed.all { " and the downloaded packages" } else { "" };
        format!("Removed {} worlds ({} MiB){packages}.\n", removed.len(), bytes / MIB)
    };
    output::print(&text)?;
    Ok(0)
}

fn listed(world: &Made) -> Listed {
    Listed {
        name: world.name.clone(),
        folder: world.tree.display().to_string(),
        title: format!("Debian {}", world.descriptor.suite),
        packages: Packages::named(&world.tree).map_or(0, |packages| packages.len()),
        bytes: bytes_in(&world.tree),
        made: world.descriptor.made,
        is_unchanged: world.is_unchanged(),
    }
}

fn not_kept(ready: &Ready) -> Listed {
    Listed {
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

fn lines(store: &Store, worlds: &[Listed]) -> String {
    if worlds.is_empty() {
        return format!("No worlds in {}.\n", store.root().display());
    }
    let widest = worlds.iter().map(|world| world.name.len()).max().unwrap_or(0);
    let line = |world: &Listed| {
        let changed = if world.is_unchanged { "" } else { "; modified, so not used" };
        let (name, room) = (report::clean(&world.name), world.bytes / MIB);
        format!("{name:<widest$}  {}, {} packages, {room} MiB{changed}\n", report::clean(&world.title), world.packages)
    };
    worlds.iter().map(line).collect::<String>() + &format!("\nIn {}.\n", store.root().display())
}

fn json(store: &Store, worlds: Vec<Listed>) -> Result<String, Failure> {
    output::json(&Kept { schema: SCHEMA, cache: store.root().display().to_string(), worlds })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_world_that_was_changed_is_listed_as_such() {
        let place = tempfile::tempdir().expect("a folder");
        let store = Store::at(place.path()).expect("a store");
        assert!(lines(&store, &[]).starts_with("No worlds in"));
        let world = |is_unchanged| Listed {
            name: "debian-x".into(),
            folder: "/x".into(),
            title: "Debian x\u{1b}".into(),
            packages: 3,
            bytes: 5 * MIB,
            made: 7,
            is_unchanged,
        };
        let text = lines(&store, &[world(true), world(false)]);
        assert!(text.contains("3 packages, 5 MiB\n") && text.contains("5 MiB; modified"), "{text}");
        assert!(!text.contains('\u{1b}'));
    }
}
