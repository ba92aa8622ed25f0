//! Services over time: what each of some running services used and served since it was last looked at. Nothing is recorded and
//! nothing changed; CPU time, memory and waits come from /proc and control groups, requests, connections and bytes from sums that
//! the kernel keeps (`bpf/services.bpf.c`), overflows of listening sockets from sock_diag(7).
//!
//! Promises: what a service used between two looks is counted once, whatever ended or started meanwhile; a service that is gone is
//! looked for again; a source that is missing is named, and the others go on.

mod counters;
mod drops;
mod group;
mod hierarchy;
mod processes;
mod selected;

pub(crate) use counters::{MAPS, load};
pub use selected::{Selected, all_listening};

use crate::error::RecordError;
use crate::listeners::Listening;
use crate::listening::{self, ProcessStat};
use case::{Nanos, ServiceSample};
use counters::{Counters, Served};
use group::Group;
use processes::Tree;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// So many services are watched at one time: the kernel's table has that many rows.
pub const MOST_SERVICES: usize = counters::MOST;

/// What is not counted for who is not root.
const OTHERS: &str = "requests, connections and bytes of processes of other users: only root counts those";

/// A service, as it is watched.
struct Watched {
    selected: Selected,
    name: String,
    /// Its first process, where it has one, and when that was started: ids come again.
    main: Option<(u32, u64)>,
    group: Option<Group>,
    tree: Tree,
    served: Served,
    ports: BTreeSet<u16>,
    dropped: BTreeMap<u16, u64>,
}

/// What a service did since it was last looked at.
#[derive(Clone, Debug)]
pub struct Looked {
    /// Its first process; none where it does not run.
    pub main: Option<u32>,
    /// What it did; the time of day is not filled in.
    pub sample: ServiceSample,
}

/// Watches services.
pub struct Services {
    all: Vec<Watched>,
    counters: Option<Counters>,
    /// What cannot be seen, and why.
    missing: Vec<String>,
    looked: Instant,
    counts_calls: bool,
}

impl Services {
    /// Begins to watch. With `counts_calls` system calls are counted as well, which costs every call on this host a
    /// little.
    ///
    /// # Errors
    /// Where there are too many services. What cannot be counted otherwise is in [`Services::missing`].
    pub fn watch(selected: Vec<Selected>, counts_calls: bool) -> Result<Services, RecordError> {
        if selected.len() > MOST_SERVICES {
            return Err(RecordError::TooManyServices { given: selected.len(), most: MOST_SERVICES });
        }
        let (counters, missing) = match Counters::load(counts_calls) {
            Ok(counters) => (Some(counters), Vec::new()),
            Err(error) => (None, vec![format!("requests, connections and bytes: {error}")]),
        };
        let (mut names, listening) = (BTreeSet::new(), Listening::default());
        let mut all = Vec::new();
        for one in selected {
            let name = one.name(&listening);
            // The same program twice, on two ports say.
            let name = if names.contains(&name) { format!("{name} ({one})") } else { name };
            names.insert(name.clone());
            let ports = one.ports();
            all.push(Watched {
                selected: one,
                name,
                main: None,
                group: None,
                tree: Tree::default(),
                served: Served::default(),
                ports,
                dropped: BTreeMap::new(),
            });
        }
        let mut services = Services { all, counters, missing, looked: Instant::now(), counts_calls };
        // The first look is what later ones are compared with.
        services.look();
        Ok(services)
    }

    /// What cannot be seen here, and why: a sentence each.
    pub fn missing(&self) -> &[String] {
        &self.missing
    }

    /// What each did since the last look, in the order in which they were given.
    pub fn look(&mut self) -> Vec<Looked> {
        let length = Nanos(self.looked.elapsed().as_nanos() as u64);
        self.looked = Instant::now();
        let table = listening::processes();
        let drops = drops::of_listeners();
        // Asked only where a service is looked for.
        let listening = Listening::default();
        let mut members = BTreeMap::new();
        let mut found = Vec::new();
        for (index, service) in self.all.iter_mut().enumerate() {
            let processes = service.find(&table, &listening);
            let is_within_reach = |pid: &u32| crate::running::is_within_reach(*pid);
            let (within_reach, others): (Vec<u32>, Vec<u32>) = processes.iter().copied().partition(is_within_reach);
            members.extend(within_reach.into_iter().map(|pid| (pid, index as u32)));
            if !others.is_empty() && !self.missing.iter().any(|known| known == OTHERS) {
                self.missing.push(OTHERS.to_string());
            }
            let mut sample = service.figures(&processes, &drops);
            sample.length = length;
            sample.service.clone_from(&service.name);
            found.push(Looked { main: service.main.map(|(pid, _)| pid), sample });
        }
        if let Some(counters) = &mut self.counters {
            counters.assign(&members);
            for (index, (service, looked)) in self.all.iter_mut().zip(&mut found).enumerate() {
                let now = counters.read(index as u32);
                now.since(&service.served).enter(&mut looked.sample, self.counts_calls);
                service.served = now;
            }
        }
        found
    }
}

impl Watched {
    /// The processes that make up the service now.
    fn find(&mut self, table: &[ProcessStat], listening: &Listening) -> Vec<u32> {
        let started = |pid: u32| {
            let process = table.iter().find(|process| process.pid == pid && !process.is_zombie())?;
            Some((pid, process.started_ticks))
        };
        if self.selected.is_group() {
            // A unit that was started anew has a new group of the same name.
            self.group = self.selected.group().map(|group| group.after(self.group.take()));
            let processes = self.group.as_ref().map(Group::processes).unwrap_or_default();
            self.main = processes.iter().copied().min().and_then(started);
            return processes;
        }
        if self.main.is_none_or(|main| started(main.0) != Some(main)) {
            let is_first = self.main.is_none();
            // A process that ended does not come back; whoever listens on a port may be another one.
            let again =
                self.selected.main(listening).filter(|_| is_first || matches!(self.selected, Selected::Port(_)));
            self.main = again.and_then(started).or(self.main.filter(|_| !is_first && again.is_none()));
            self.group = self.main.and_then(|(pid, _)| Group::limiting(pid));
        }
        let main = self.main.filter(|main| started(main.0) == Some(*main));
        main.map(|(pid, _)| processes::below(pid, table)).unwrap_or_default()
    }

    fn figures(&mut self, processes: &[u32], drops: &BTreeMap<u16, u64>) -> ServiceSample {
        let mut figures = ServiceSample { processes: processes.len() as u32, ..ServiceSample::default() };
        self.tree.look(processes, &mut figures);
        if let Some(group) = &mut self.group {
            group.look(self.selected.is_group(), &mut figures);
        }
        for port in &self.ports {
            let Some(now) = drops.get(port) else { continue };
            let before = self.dropped.insert(*port, *now).unwrap_or(*now);
            figures.overflows += now.saturating_sub(before);
        }
        figures
    }
}

#[cfg(test)]
mod tests;
