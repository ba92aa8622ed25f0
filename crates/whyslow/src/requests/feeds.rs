//! What `feeds` is asked.

use super::load::secured;
use crate::arguments::FeedsRefreshArguments;
use crate::invoker::Invoker;
use fail::Failure;
use std::path::{Path, PathBuf};
use studies::StudyError;
use studies::feeds::{Hosts, Plan, read_hosts, read_list};

/// The database that takes whatever has no other.
const DATABASE: &str = "feeds.redb";
/// XML becomes a fifth of its length, and seldom less than a tenth; what becomes a hundredth is meant to.
const INFLATES: u64 = 4;
const MIB: usize = 1 << 20;

/// Works out what was meant.
pub fn refresh(typed: FeedsRefreshArguments) -> Result<Plan, Failure> {
    if typed.user_agent.is_empty() || typed.user_agent.contains(char::is_control) {
        return Err(Failure::value(
            "--user-agent",
            "it is one line",
            "--user-agent 'bot/1 (+https://example.org/bot)'",
        ));
    }
    let list = read_list(&typed.list).map_err(StudyError::from)?;
    let hosts = match &typed.hosts {
        None => Hosts::default(),
        Some(file) => read_hosts(file).map_err(StudyError::from)?,
    };
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let most_received = typed.max_size as usize * MIB;
    Ok(Plan {
        list: list.file.display().to_string(),
        addresses: list.addresses,
        database: database(typed.database)?,
        hosts,
        connections: typed.connections as usize,
        per_origin: typed.per_origin as usize,
        threads: typed.threads.map_or(processors, usize::from),
        timeout: typed.timeout,
        most_received,
        most_inflated: most_received as u64 * INFLATES,
        robots: typed.robots,
        agent: typed.user_agent,
        secured: secured(typed.tls),
        rounds: typed.rounds,
        every: typed.every,
    })
}

/// The database named, or the one in the user's state folder.
pub fn database(named: Option<PathBuf>) -> Result<PathBuf, Failure> {
    if let Some(file) = named {
        return std::path::absolute(&file).map_err(|error| Failure::output(&error));
    }
    let state = Invoker::find().state_folder();
    let missing =
        || Failure::new("no folder for the database", "neither XDG_STATE_HOME nor HOME is set", "--database FILE");
    Ok(state.ok_or_else(missing)?.join(DATABASE))
}

/// What rounds over a list are kept under.
pub fn list(file: &Path) -> String {
    std::fs::canonicalize(file).unwrap_or_else(|_| file.to_path_buf()).display().to_string()
}
