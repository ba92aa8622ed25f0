//! One thing about a world changed, as an option or a key of a trial's file asks for it.

use crate::link::{Link, size};
use crate::treatment::End;
use std::path::PathBuf;

/// The least quota: the kernel takes no less than 1 ms of its period of 100 ms.
const LEAST_QUOTA: f64 = 0.01;
/// The most: no machine has more processors.
const MOST_QUOTA: f64 = 8192.0;
/// The least memory in which a program can be started at all.
const LEAST_MEMORY_BYTES: u64 = 1 << 20;
/// The kernel's own limit on the number of processors.
const MOST_PROCESSORS: usize = 8192;

/// A change of a world, read and checked.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Networks of their own for client and server, joined by this link.
    Link(Link),
    /// A variable set, or removed where it has no value.
    Variable(String, Option<String>),
    /// The working folder.
    Folder(PathBuf),
    /// Processors to run on.
    Processors(Vec<usize>),
    /// Processor time allowed, in processors.
    Quota(f64),
    /// Memory allowed, in bytes.
    Memory(u64),
    /// A sysctl in the namespaces of the link: its name and its value.
    Setting(String, String),
    /// A route in the namespaces: an end and words for `ip route change`.
    Route(End, String),
}

impl Change {
    /// The keys.
    pub const KEYS: [&str; 8] = ["link", "env", "folder", "processors", "quota", "memory", "setting", "route"];

    /// Reads a key's value.
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
    pub fn read(key: &str, value: &str) -> Result<Change, String> {
        match key {
            "link" => value.parse().map(Change::Link).map_err(|error: crate::LinkError| error.to_string()),
            "env" => variable(value),
            "folder" => Ok(Change::Folder(PathBuf::from(value))),
            "processors" => processors(value).map(Change::Processors),
            "quota" => quota(value).map(Change::Quota),
            "memory" => memory(value).map(Change::Memory),
            "setting" => setting(value),
            "route" => route(value),
            other => Err(format!("a world has no `{other}`; it has {}", Change::KEYS.join(", "))),
        }
    }
}

fn variable(text: &str) -> Result<Change, String> {
    let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value.to_string())));
    if name.is_empty() || text.contains('\0') {
        return Err(format!("`{text}` is not a variable: NAME=VALUE sets one, NAME alone removes it"));
    }
    Ok(Change::Variable(name.to_string(), value))
}

/// `0,2-3`, as taskset takes it.
fn processors(text: &str) -> Result<Vec<usize>, String> {
    let wrong = || format!("`{text}` is not a list of CPUs; use numbers and ranges, as in 0,2-3");
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
    quota.ok_or_else(|| format!("`{text}` is not a quota; use a number of CPUs, at least {LEAST_QUOTA}, as in 0.5"))
}

fn memory(text: &str) -> Result<u64, String> {
    let bytes = size(text).filter(|bytes| *bytes >= LEAST_MEMORY_BYTES);
    bytes.ok_or_else(|| format!("`{text}` is not a memory size; use at least 1m, as in 512m"))
}

fn setting(text: &str) -> Result<Change, String> {
    let wrong = || format!("`{text}` is not of the form NAME=VALUE, as in net.ipv4.tcp_sack=0");
    let (name, value) = text.split_once('=').ok_or_else(wrong)?;
    Ok(Change::Setting(name.trim().to_string(), value.trim().to_string()))
}

fn route(text: &str) -> Result<Change, String> {
    let wrong =
        || format!("`{text}` is not a route; use an end and words for `ip route change`, as in client: quickack 1");
    let (end, words) = text.split_once(':').ok_or_else(wrong)?;
    let end = end.trim().parse().map_err(|_| wrong())?;
    if words.trim().is_empty() {
        return Err(wrong());
    }
    Ok(Change::Route(end, words.trim().to_string()))
}
