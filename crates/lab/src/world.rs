//! Where a subject runs.

mod change;
mod written;

pub use change::Change;

use crate::link::{Addresses, Link};
use crate::treatment::End;
use record::Root;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

/// Where both ends are without a link.
const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// A world: everything about a trial that is neither the subject nor an intervention. The default is the host as it is.
///
/// In TOML, its keys are those of [`Change::KEYS`], each with what the option of that name takes.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(try_from = "written::Written", into = "written::Written")]
pub struct World {
    /// Networks of their own for client and server, and the link between them.
    pub link: Option<Link>,
    /// Variables set (or, where none, removed) in the environment.
    pub environment: BTreeMap<String, Option<String>>,
    /// The working folder; none is ours.
    pub folder: Option<PathBuf>,
    /// Processors to run on; empty for any.
    pub processors: Vec<usize>,
    /// CPU time allowed to both ends together, in processors: 0.5 is half of one. None is no limit of ours.
    pub processor_quota: Option<f64>,
    /// Memory allowed to both ends together, in bytes.
    pub memory: Option<u64>,
    /// Kernel settings inside the namespaces of a link: `net.ipv4.tcp_sack` to `0`.
    pub settings: BTreeMap<String, String>,
    /// The tree of files that one end sees in the place of the host's.
    pub tree: Option<Tree>,
    /// Routes changed inside the namespaces, as words for `ip route change`; without a destination, words added to the
    /// route to the other end.
    pub routes: Vec<(End, String)>,
}

/// A tree of files for an end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// What it is made of.
    pub root: Root,
    /// Whose it is; the other end sees the host's files.
    pub end: End,
}

impl World {
    /// The tree of an end; none where it sees the host's.
    pub fn root_of(&self, end: End) -> Option<&Root> {
        self.tree.as_ref().filter(|tree| tree.end == end).map(|tree| &tree.root)
    }

    /// The host with some things changed, one after another.
    pub fn with(changes: impl IntoIterator<Item = Change>) -> World {
        let mut world = World::default();
        changes.into_iter().for_each(|change| world.apply(change));
        world
    }

    /// Changes one thing. The last of `link`, `folder`, `processors`, `quota` and `memory` counts; each `env`, `setting`
    /// and `route` is added.
    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Link(link) => self.link = Some(link),
            Change::Variable(name, value) => drop(self.environment.insert(name, value)),
            Change::Folder(folder) => self.folder = Some(folder),
            Change::Processors(processors) => self.processors = processors,
            Change::Quota(processors) => self.processor_quota = Some(processors),
            Change::Memory(bytes) => self.memory = Some(bytes),
            Change::Setting(name, value) => drop(self.settings.insert(name, value)),
            Change::Route(end, words) => self.routes.push((end, words)),
        }
    }

    /// Changes one thing, as [`Change::read`] reads it.
    ///
    /// # Errors
    /// One sentence that says what is wrong, and what is allowed.
    pub fn change(&mut self, key: &str, value: &str) -> Result<(), String> {
        self.apply(Change::read(key, value)?);
        Ok(())
    }

    /// Where client and server reach each other: over the link, else over the loopback interface.
    pub fn addresses(&self) -> Addresses {
        self.link.map_or(Addresses { client: LOOPBACK, server: LOOPBACK }, |_| Link::addresses())
    }

    /// Whether all that is asked for can go together.
    ///
    /// # Errors
    /// One sentence that says what is missing.
    pub fn check(&self) -> Result<(), String> {
        let needs_link = [("a setting", !self.settings.is_empty()), ("a route", !self.routes.is_empty())];
        match needs_link.iter().find(|(_, is_there)| *is_there && self.link.is_none()) {
            Some((what, _)) => {
                Err(format!("{what} needs a link, so that only the programs' own network is changed: link=mtu=1500"))
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
