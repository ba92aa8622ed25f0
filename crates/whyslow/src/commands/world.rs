//! `whyslow world`: worlds made, listed, entered and removed by hand.

use super::study::exit_of_subject;
use crate::arguments::{
    WorldAction, WorldCommandArguments, WorldMakeArguments, WorldRemoveArguments, WorldRunArguments,
};
use crate::console::Terminal;
use crate::fail::Failure;
use crate::invoker::{Invoker, subject_user};
use crate::output;
use lab::worlds::{Ready, Store, WorldName};
use studies::world::{Kept, Listed};

const MIB: u64 = 1 << 20;

/// Does what was asked.
pub fn world(typed: &WorldCommandArguments) -> Result<u8, Failure> {
    let store = Store::open()?;
    match &typed.action {
        WorldAction::List => list(&store, typed.json),
        WorldAction::Make(make) => show_made(make, &store, typed.json),
        WorldAction::Run(run) => enter(run, &store),
        WorldAction::Remove(removal) => remove(removal, &store, typed.json),
    }
}

fn list(store: &Store, as_json: bool) -> Result<u8, Failure> {
    let kept = studies::world::list(store)?;
    output::print(&if as_json { output::json(&kept)? } else { lines(&kept) })?;
    Ok(0)
}

fn show_made(typed: &WorldMakeArguments, store: &Store, as_json: bool) -> Result<u8, Failure> {
    let ready = make(typed, &[], store, &Terminal::take(&Invoker::find())?)?;
    let text = if as_json {
        output::json(&studies::world::made(&ready, store)?)?
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
    let invoker = Invoker::find();
    let terminal = Terminal::take(&invoker)?;
    let ready = make(&typed.world, &typed.command, store, &terminal)?;
    let ended = studies::world::run(&ready, &typed.command, subject_user(None, &invoker)?, &terminal)?;
    Ok(exit_of_subject(ended))
}

/// Makes a world ready for a command.
fn make(typed: &WorldMakeArguments, command: &[String], store: &Store, terminal: &Terminal) -> Result<Ready, Failure> {
    let name = typed.name.parse::<WorldName>().map_err(|why| Failure::world_name(&why))?;
    let folder = std::env::current_dir().map_err(|error| Failure::internal(&format!("no working folder: {error}")))?;
    Ok(studies::world::make(&name, (command, &typed.package), &folder, store, terminal)?)
}

fn remove(typed: &WorldRemoveArguments, store: &Store, as_json: bool) -> Result<u8, Failure> {
    let name = typed.name.as_deref().filter(|_| !typed.all);
    let removed = studies::world::remove(name, store)?;
    let text = if as_json {
        output::json(&removed)?
    } else {
        let bytes = removed.worlds.iter().map(|world| world.bytes).sum::<u64>();
        let packages = if typed.all { " and the downloaded packages" } else { "" };
        format!("Removed {} worlds ({} MiB){packages}.\n", removed.worlds.len(), bytes / MIB)
    };
    output::print(&text)?;
    Ok(0)
}

fn lines(kept: &Kept) -> String {
    let Kept { cache, worlds, .. } = kept;
    if worlds.is_empty() {
        return format!("No worlds in {cache}.\n");
    }
    let widest = worlds.iter().map(|world| world.name.len()).max().unwrap_or(0);
    let line = |world: &Listed| {
        let changed = if world.is_unchanged { "" } else { "; modified, so not used" };
        let (name, room) = (report::clean(&world.name), world.bytes / MIB);
        format!("{name:<widest$}  {}, {} packages, {room} MiB{changed}\n", report::clean(&world.title), world.packages)
    };
    worlds.iter().map(line).collect::<String>() + &format!("\nIn {cache}.\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_world_that_was_changed_is_listed_as_such() {
        let kept = |worlds| Kept { schema: 1, cache: "/cache".into(), worlds };
        assert!(lines(&kept(Vec::new())).starts_with("No worlds in"));
        let world = |is_unchanged| Listed {
            name: "debian-x".into(),
            folder: "/x".into(),
            title: "Debian x\u{1b}".into(),
            packages: 3,
            bytes: 5 * MIB,
            made: 7,
            is_unchanged,
        };
        let text = lines(&kept(vec![world(true), world(false)]));
        assert!(text.contains("3 packages, 5 MiB\n") && text.contains("5 MiB; modified"), "{text}");
        assert!(!text.contains('\u{1b}'));
    }
}
