//! Kernel counters that tell of slowness: TCP's and IP's of each network namespace, throttling of each cgroup, the
//! network's backlog, and what the processors did.
//!
//! A reading keeps the namespaces' counters open, so that [`Counters::again`] still finds them when the processes in them
//! have ended. It keeps those namespaces alive until it is dropped.

mod cgroups;

pub use cgroups::cgroup_of;

use crate::peer;
use broker::Place;
use case::tables::Counter;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// Columns of `/proc/stat`'s first line, in ticks (see proc(5)).
const CPU_COLUMNS: [&str; 8] = ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"];

/// Columns of `/proc/net/softnet_stat`, one line a processor, in hexadecimal.
const SOFTNET_COLUMNS: [&str; 3] = ["processed", "dropped", "time_squeeze"];

/// More than any of the files read has.
const LONGEST_FILE: usize = 1 << 18;

/// One reading of all counters.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    /// By scope and name.
    values: BTreeMap<(String, String), u64>,
    namespaces: Vec<Namespace>,
    cgroups: Vec<cgroups::Cgroup>,
}

/// The open counters of one network namespace.
#[derive(Clone, Debug)]
struct Namespace {
    scope: String,
    /// `netstat` and `snmp`: a line of names, a line of values.
    tables: Vec<Arc<File>>,
    /// `snmp6`: a name and a value on each line.
    list: Option<Arc<File>>,
}

impl Counters {
    /// Reads the counters of the machine, and of the network namespaces and cgroups that the processes are in. What cannot
    /// be read is left out.
    pub fn read(pids: &[u32]) -> Counters {
        let mut counters = Counters { cgroups: cgroups::of(pids), ..Counters::default() };
        for &pid in pids {
            let Some(inode) = network_namespace(pid) else { continue };
            let scope = format!("netns:{inode}");
            if !counters.namespaces.iter().any(|namespace| namespace.scope == scope) {
                counters.namespaces.push(Namespace::open(pid, scope));
            }
        }
        counters.fill();
        counters
    }

    /// Reads the same counters again, whether the processes still run or not.
    #[must_use]
    pub fn again(&self) -> Counters {
        let (namespaces, cgroups) = (self.namespaces.clone(), self.cgroups.clone());
        let mut counters = Counters { values: BTreeMap::new(), namespaces, cgroups };
        counters.fill();
        counters
    }

    fn fill(&mut self) {
        let mut values = Vec::new();
        for namespace in &self.namespaces {
            namespace.read(&mut values);
        }
        for cgroup in &self.cgroups {
            cgroup.read(&mut values);
        }
        let softnet = fs::read_to_string("/proc/net/softnet_stat").unwrap_or_default();
        values.extend(softnet_totals(&softnet).map(|(name, value)| ("softnet".to_string(), name, value)));
        let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
        values.extend(processor_ticks(&stat).map(|(name, value)| ("cpu".to_string(), name, value)));
        for (scope, name, value) in values {
            // Two cgroup hierarchies may have the same path; the one with the cpu controller is read first.
            self.values.entry((scope, name)).or_insert(value);
        }
    }
}

/// The counters that moved between two readings. What only one of them has is left out.
pub fn moved(before: &Counters, after: &Counters) -> Vec<Counter> {
    let both = before.values.iter().filter_map(|(key, value)| Some((key, *value, *after.values.get(key)?)));
    both.filter(|(_, before, after)| before != after)
        .map(|((scope, name), before, after)| Counter { scope: scope.clone(), name: name.clone(), before, after })
        .collect()
}

/// The inode of a process's network namespace.
pub fn network_namespace(pid: u32) -> Option<u64> {
    let link = peer::link(pid, Place::Network).ok()?;
    link.to_str()?.strip_prefix("net:[")?.strip_suffix(']')?.parse().ok()
}

impl Namespace {
    fn open(pid: u32, scope: String) -> Namespace {
        let open = |name: &str| File::open(format!("/proc/{pid}/net/{name}")).ok().map(Arc::new);
        let tables = ["netstat", "snmp"].into_iter().filter_map(open).collect();
        Namespace { scope, tables, list: open("snmp6") }
    }

    fn read(&self, values: &mut Vec<(String, String, u64)>) {
        for table in &self.tables {
            let text = text_of(table);
            values.extend(paired_lines(&text).into_iter().map(|(name, value)| (self.scope.clone(), name, value)));
        }
        let text = self.list.as_deref().map(text_of).unwrap_or_default();
        values.extend(named_lines(&text).map(|(name, value)| (self.scope.clone(), name, value)));
    }
}

/// The present content of an open /proc file, read from its start.
fn text_of(file: &File) -> String {
    let mut bytes = Vec::new();
    let mut part = [0; 16_384];
    while bytes.len() < LONGEST_FILE {
        match file.read_at(&mut part, bytes.len() as u64) {
            Ok(length) if length > 0 => bytes.extend_from_slice(&part[..length]),
            _ => break,
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A door for fuzzers: any text.
pub fn fuzz(text: &str) {
    paired_lines(text);
    named_lines(text).count();
    softnet_totals(text).count();
    processor_ticks(text).count();
    cgroups::fuzz(text);
}

/// `TcpExt: A B` over `TcpExt: 1 2` as `TcpExt.A` and `TcpExt.B`. Values below zero (`Tcp.MaxConn`: no limit) are left out.
fn paired_lines(text: &str) -> Vec<(String, u64)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for pair in lines.chunks_exact(2) {
        let (Some((group, names)), Some((same, values))) = (pair[0].split_once(':'), pair[1].split_once(':')) else {
            continue;
        };
        if group != same {
            continue;
        }
        let columns = names.split_whitespace().zip(values.split_whitespace());
        found.extend(columns.filter_map(|(name, value)| Some((format!("{group}.{name}"), value.parse().ok()?))));
    }
    found
}

/// `Name 1` as it stands, one a line.
fn named_lines(text: &str) -> impl Iterator<Item = (String, u64)> {
    text.lines().filter_map(|line| {
        let (name, value) = line.split_once(char::is_whitespace)?;
        Some((name.to_string(), value.trim().parse().ok()?))
    })
}

/// The sums over all processors.
fn softnet_totals(text: &str) -> impl Iterator<Item = (String, u64)> {
    let mut totals = [0_u64; SOFTNET_COLUMNS.len()];
    for line in text.lines() {
        for (total, value) in totals.iter_mut().zip(line.split_whitespace()) {
            *total = total.saturating_add(u64::from_str_radix(value, 16).unwrap_or(0));
        }
    }
    SOFTNET_COLUMNS.into_iter().map(str::to_string).zip(totals)
}

/// All processors together.
fn processor_ticks(text: &str) -> impl Iterator<Item = (String, u64)> {
    let values = text.lines().next().and_then(|line| line.strip_prefix("cpu ")).unwrap_or_default();
    let columns = CPU_COLUMNS.into_iter().zip(values.split_whitespace());
    columns.filter_map(|(name, value)| Some((name.to_string(), value.parse().ok()?)))
}

#[cfg(test)]
mod tests;
