//! `whyslow world`: worlds made, listed, entered and removed by hand.

use super::study::exit_of_subject;
use crate::arguments::{
    WorldAction, WorldCommandArguments, WorldMakeArguments, WorldRemoveArguments, WorldRunArguments,
};
use crate::console::Terminal;
use crate::invoker::subject_user;
use crate::output;
use fail::Failure;
use lab::worlds::{Ready, Store};

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
    output::document(&studies::world::list(store)?, as_json, report::worlds)?;
    Ok(0)
}

fn show_made(typed: &WorldMakeArguments, store: &Store, as_json: bool) -> Result<u8, Failure> {
    let ready = make(typed, &[], store, &Terminal::take()?)?;
    output::document(&studies::world::made(&ready, store)?, as_json, |_| {
        report::clean(&format!(
            "{} is ready: {}, in {}",
            ready.name,
            ready.title,
            record::trees::real(&ready.base).display()
        )) + "\n"
    })?;
    Ok(0)
}

fn enter(typed: &WorldRunArguments, store: &Store) -> Result<u8, Failure> {
    if !broker::acts_as_root() {
        return Err(Failure::needs_root("enter a world", "it takes a mount namespace"));
    }
    let terminal = Terminal::take()?;
    let ready = make(&typed.world, &typed.command, store, &terminal)?;
    let ended = studies::world::run(&ready, &typed.command, subject_user(None)?, &terminal)?;
    Ok(exit_of_subject(ended))
}

/// Makes a world ready for a command.
fn make(typed: &WorldMakeArguments, command: &[String], store: &Store, terminal: &Terminal) -> Result<Ready, Failure> {
    let folder = std::env::current_dir().map_err(|error| Failure::internal(&format!("no working folder: {error}")))?;
    Ok(studies::world::make(&typed.name, (command, &typed.package), &folder, store, terminal)?)
}

fn remove(typed: &WorldRemoveArguments, store: &Store, as_json: bool) -> Result<u8, Failure> {
    let name = typed.name.as_deref().filter(|_| !typed.all);
    let removed = studies::world::remove(name, store)?;
    output::document(&removed, as_json, |removed| report::removed_worlds(removed, typed.all))?;
    Ok(0)
}
