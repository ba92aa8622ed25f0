//! From what was typed to what is asked of a study: everything checked and found that can be, before anything is started.

pub mod attach;
pub mod bisect;
pub mod compare;
pub mod feeds;
pub mod load;
pub mod matrix;
pub mod pcap;
pub mod run;
pub mod sweep;
pub mod trial;
pub mod watch;

use crate::arguments::{Driver, KeepingArguments, Says, WorldArguments};
use crate::invoker::{Invoker, subject_user};
use case::Names;
use fail::Failure;
use lab::{Subject, World};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use studies::Words;

/// The world asked for, where this user may have it.
fn world(typed: &WorldArguments) -> Result<World, Failure> {
    may_have(typed.world())
}

fn may_have(world: World) -> Result<World, Failure> {
    if world.link.is_some() && !broker::acts_as_root() {
        return Err(Failure::needs_root("make a link", "only root can create network namespaces"));
    }
    Ok(world)
}

/// The command under study: the one that was typed, or a load in its place.
fn client(command: Vec<String>, load: Option<&Driver>, says: Says) -> Result<Vec<String>, Failure> {
    let Some(driver) = load else { return Ok(command) };
    let addresses = |text: &str| text.replace("{server}", "127.0.0.1").replace("{client}", "127.0.0.1");
    driver.check_filled(addresses).map_err(|why| Failure::value("--load", &why, LOAD))?;
    driver.command(says).map_err(|error| Failure::internal(&error.to_string()))
}

/// A load that works.
const LOAD: &str = "--load http://{server}:8080/,rate=500";

/// The programs of trials: each reads the same input again.
fn subject(
    world: &World,
    command: &[String],
    server: Option<&Words>,
    keeping: &KeepingArguments,
) -> Result<Subject, Failure> {
    let subject = Subject::within(world, command, server.map(|words| &**words))?;
    Ok(Subject { user: subject_user(keeping.user)?, input: lab::input_again().unwrap_or_default(), ..subject })
}

/// As [`case_folder`], which is called after the command only where names are kept.
pub fn case_folder_without_names(folder: Option<&Path>, command: &[String], names: Names) -> Result<PathBuf, Failure> {
    case_folder(folder, if names == Names::Kept { command } else { &[] })
}

/// `-o`, or a new folder among the user's cases.
pub fn case_folder(folder: Option<&Path>, command: &[String]) -> Result<PathBuf, Failure> {
    if let Some(folder) = folder {
        return std::path::absolute(folder).map_err(|error| Failure::output(&error));
    }
    let state = Invoker::find().state_folder().ok_or_else(Failure::no_home)?;
    Ok(case::new_folder(&state, command, SystemTime::now()))
}
