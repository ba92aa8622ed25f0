//! Where a subject runs.

mod written;

use crate::link::{Link, size};
use crate::treatment::End;
use record::Root;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The least quota: the kernel takes no less than 1 ms of its period of 100 ms.
const LEAST_QUOTA: f64 = 0.01;
/// The most: no machine has more processors.
const MOST_QUOTA: f64 = 8192.0;
/// The least memory in which a program can be started at all.
const LEAST_MEMORY_BYTES: u64 = 1 << 20;
/// The kernel's own limit on the number of processors.
const MOST_PROCESSORS: usize = 8192;

/// A world: everything about a trial that is neither the subject nor an intervention. The default is the host as it is.
///
/// In TOML, its keys are those of [`World::KEYS`], each with what the option of that name takes.
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
    /// Processor time allowed to both ends together, in processors: 0.5 is half of one. None is no limit of ours.
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

    /// What can be said of a world: `link`, `env`, `folder`, `processors`, `quota`, `memory`, `setting`, `route`.
    pub const KEYS: [&str; 8] = ["link", "env", "folder", "processors", "quota", "memory", "setting", "route"];

    /// Changes one thing about the world. The last of `link`, `folder`, `processors`, `quota` and `memory` counts; each
    /// `env`, `setting` and `route` is added.
    ///
    /// | key | value |
    /// |---|---|
    /// | `link` | `mtu=1500,rate=10mbit` |
    /// | `env` | `NAME=VALUE` sets, `NAME` removes |
    /// | `folder` | a path |
    /// | `processors` | `0,2-3` |
    /// | `quota` | `0.5`: half of one processor |
    /// | `memory` | `512m` |
    /// | `setting` | `net.ipv4.tcp_sack=0` |
    /// | `route` | `client: quickack 1` |
    ///
    /// # Errors
    /// One sentence that says what is wrong, and what is allowed.
    pub fn change(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "link" => self.link = Some(value.parse().map_err(|error: crate::LinkError| error.to_string())?),
            "env" => {
                let (name, value) = variable(value)?;
                self.environment.insert(name, value);
            }
            "folder" => self.folder = Some(PathBuf::from(value)),
            "processors" => self.processors = processors(value)?,
            "quota" => self.processor_quota = Some(quota(value)?),
            "memory" => self.memory = Some(memory(value)?),
            "setting" => {
                let (name, value) = value
                    .split_once('=')
                    .ok_or_else(|| format!("`{value}` is not of the form NAME=VALUE, as in net.ipv4.tcp_sack=0"))?;
                self.settings.insert(name.trim().to_string(), value.trim().to_string());
            }
            "route" => self.routes.push(route(value)?),
            other => return Err(format!("a world has no `{other}`; it has {}", World::KEYS.join(", "))),
        }
        Ok(())
    }

    /// Whether all that is asked for can go together.
    ///
    /// # Errors
    /// One sentence that says what is missing.
    pub fn check(&self) -> Result<(), String> {
        let needs_link = [("a setting", !self.settings.is_empty()), ("a route", !self.routes.is_empty())];
        match needs_link.iter().find(|(_, is_there)| *is_there && self.link.is_none()) {
            Some((what, _)) => {
                Err(format!("{what} needs a link, so that only the network of the programs is changed: link=mtu=1500"))
            }
            None => Ok(()),
        }
    }
}

fn variable(text: &str) -> Result<(String, Option<String>), String> {
    let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value.to_string())));
    if name.is_empty() || text.contains('\0') {
        return Err(format!("`{text}` is no variable: NAME=VALUE sets one, NAME alone removes it"));
    }
    Ok((name.to_string(), value))
}

/// `0,2-3`, as taskset takes it.
fn processors(text: &str) -> Result<Vec<usize>, String> {
    let wrong = || format!("`{text}` is no list of processors: numbers and ranges, as in 0,2-3");
    let mut found = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.trim().parse::<usize>().ok().filter(|number| *number < MOST_PROCESSORS);
        let (first, last) = number(first).zip(number(last)).ok_or_else(wrong)?;
        if first > last {
            return Err(wrong());
        }
        found.extend(first..=last);
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

fn quota(text: &str) -> Result<f64, String> {
    let quota = text.trim().parse().ok().filter(|quota| (LEAST_QUOTA..=MOST_QUOTA).contains(quota));
    quota.ok_or_else(|| format!("`{text}` is no quota: processors, at least {LEAST_QUOTA}, as in 0.5"))
}

fn memory(text: &str) -> Result<u64, String> {
    let bytes = size(text).filter(|bytes| *bytes >= LEAST_MEMORY_BYTES);
    bytes.ok_or_else(|| format!("`{text}` is no amount of memory: at least 1m, as in 512m"))
}

fn route(text: &str) -> Result<(End, String), String> {
    let wrong = || format!("`{text}` is no route: an end and words for `ip route change`, as in client: quickack 1");
    let (end, words) = text.split_once(':').ok_or_else(wrong)?;
    let end = End::BOTH.into_iter().find(|one| one.word() == end.trim()).ok_or_else(wrong)?;
    if words.trim().is_empty() {
        return Err(wrong());
    }
    Ok((end, words.trim().to_string()))
}

#[cfg(test)]
mod tests;
