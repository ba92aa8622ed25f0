//! The control groups of one launch: `whyslow-PID-N/{client,server}`, below our own group, in each hierarchy in which
//! something is to be reached, limited or lifted.
//!
//! They tell which processes belong to a subject, whatever it turns itself into; programs on its sockets are attached to
//! them; and they carry its limits.

use crate::LabError;
use crate::ending;
use crate::group;
use crate::hierarchy::{Hierarchy, PREFIX, Version, carrier, hierarchies, members};
use crate::journal::{Entry, Journal, Members, Undo};
use crate::treatment::End;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The kernel's own default for the period over which CPU time is allotted.
const PERIOD_MICROSECONDS: u64 = 100_000;

/// Numbers the groups of this process.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// What is wanted of them, besides saying who belongs to the subject.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wishes {
    /// CPU time allowed to both ends together, in processors.
    pub processor_quota: Option<f64>,
    /// Memory allowed to both ends together, in bytes.
    pub memory: Option<u64>,
    /// Whether the subject is to run outside of all groups that limit its CPU time, that quota included.
    pub outside_quota: bool,
    /// Whose process the client is.
    pub client: Members,
}

/// The groups. When they are dropped, what is ours in them is ended, what is the user's is handed back, and they are
/// removed.
pub(crate) struct Groups {
    parts: Vec<Part>,
    client: Members,
    journal: Journal,
    /// Processes that were moved into them.
    entered: BTreeSet<u32>,
    /// Whether the kernel shows no quota on any group above.
    pub outside_quota: bool,
}

/// The groups in one hierarchy.
struct Part {
    version: Version,
    base: PathBuf,
    /// Our own group, to which the user's processes are handed back.
    home: PathBuf,
    entries: Vec<Entry>,
}

/// What is to be made in one hierarchy.
struct Placement<'a> {
    hierarchy: &'a Hierarchy,
    parent: PathBuf,
    limits: Vec<Limit>,
}

/// A file of a group, and what is written into it.
struct Limit {
    file: &'static str,
    value: String,
}

impl Groups {
    /// Makes them, and sets their limits.
    ///
    /// # Errors
    /// Where the kernel refuses. What was made by then is gone.
    pub fn make(wishes: &Wishes, journal: &Journal) -> Result<Groups, LabError> {
        let hierarchies = hierarchies();
        let journal = journal.clone();
        let (parts, entered) = (Vec::new(), BTreeSet::new());
        let mut groups = Groups { parts, client: wishes.client, journal, entered, outside_quota: false };
        for placement in place(wishes, &hierarchies)? {
            groups.add(&placement)?;
        }
        let processor = carrier(&hierarchies, "cpu");
        groups.outside_quota = wishes.outside_quota
            && processor.is_some_and(|hierarchy| groups.in_hierarchy(hierarchy).is_some_and(is_unlimited));
        Ok(groups)
    }

    /// Moves a process, and all that it will make, into the groups of its end.
    pub fn enter(&mut self, end: End, pid: u32) -> Result<(), LabError> {
        self.entered.insert(pid);
        for part in &self.parts {
            let folder = part.base.join(end.word());
            group::enter(&folder, pid).map_err(LabError::io(folder))?;
        }
        Ok(())
    }

    /// The group of version 2 that holds both ends, for programs on their sockets.
    pub fn unified(&self) -> Option<&Path> {
        self.parts.iter().find(|part| part.version == Version::Two).map(|part| part.base.as_path())
    }

    /// The processes of one end that run in them.
    pub fn members_of(&self, end: End) -> Vec<u32> {
        self.parts.first().map_or_else(Vec::new, |part| members(&part.base.join(end.word())))
    }

    fn add(&mut self, placement: &Placement) -> Result<(), LabError> {
        let part = make(placement, self.client, &self.journal)?;
        // From here on, what is half made is removed when dropped.
        self.parts.push(part);
        let base = &self.parts[self.parts.len() - 1].base;
        for end in End::BOTH {
            let folder = base.join(end.word());
            group::make(&folder).map_err(LabError::io(folder))?;
        }
        placement.limits.iter().try_for_each(|limit| limit.set(base))
    }

    fn in_hierarchy(&self, hierarchy: &Hierarchy) -> Option<&Path> {
        self.parts.iter().map(|part| part.base.as_path()).find(|base| base.starts_with(&hierarchy.root))
    }

    /// Ends what is ours and hands back what is the user's. The processes that were ended.
    fn empty(&self) -> BTreeSet<u32> {
        let mut ended = BTreeSet::new();
        for part in &self.parts {
            match self.client {
                Members::Ours => ended.extend(group::end(&part.base)),
                Members::TheUsers => {
                    group::hand_over(&part.base.join(End::Client.word()), &part.home);
                    ended.extend(group::end(&part.base.join(End::Server.word())));
                }
            }
        }
        ended
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        let mut ended = self.empty();
        for part in &self.parts {
            // What cannot be removed stays in the journal.
            if group::remove(&part.base).is_ok() {
                part.entries.iter().for_each(|entry| self.journal.tick_off(*entry));
            }
        }
        if self.client == Members::Ours {
            // One that ended while the trial was being cut was in no group any more.
            ended.append(&mut self.entered);
        }
        ending::reap(&ended);
    }
}

/// Makes the outer group in one hierarchy, under a name that is free.
fn make(placement: &Placement, client: Members, journal: &Journal) -> Result<Part, LabError> {
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let base = placement.parent.join(format!("{PREFIX}{}-{number}", std::process::id()));
        let group = |folder: PathBuf, members| Undo::Group { folder, members };
        let inner = |end: End, members| group(base.join(end.word()), members);
        let undos = [group(base.clone(), client), inner(End::Server, Members::Ours), inner(End::Client, client)];
        let entries = journal.note(&undos)?;
        match group::make(&base) {
            Ok(()) => {
                let home = placement.hierarchy.own.clone();
                return Ok(Part { version: placement.hierarchy.version, base, home, entries });
            }
            Err(error) => {
                for entry in entries {
                    journal.tick_off(entry);
                }
                if error.kind() != std::io::ErrorKind::AlreadyExists {
                    return Err(LabError::io(base)(error));
                }
            }
        }
    }
}

/// Decides in which hierarchies groups are made, and where.
fn place<'a>(wishes: &Wishes, hierarchies: &'a [Hierarchy]) -> Result<Vec<Placement<'a>>, LabError> {
    let mut placements: Vec<Placement> = Vec::new();
    let mut placement = |hierarchy: &'a Hierarchy| {
        let known = placements.iter().position(|one| one.hierarchy == hierarchy);
        known.unwrap_or_else(|| {
            placements.push(Placement { hierarchy, parent: hierarchy.own.clone(), limits: Vec::new() });
            placements.len() - 1
        })
    };
    let unified = hierarchies.iter().find(|one| one.version == Version::Two);
    let Some(any) = unified.or(hierarchies.first()) else {
        return Err(LabError::World("no control group hierarchy is mounted".to_string()));
    };
    placement(any);
    let missing = |controller: &str| {
        LabError::World(format!("no mounted control group hierarchy has the controller `{controller}`"))
    };
    let of = |controller| carrier(hierarchies, controller).ok_or_else(|| missing(controller));
    let quota = wishes.processor_quota.filter(|_| !wishes.outside_quota);
    let processor = (quota.is_some() || wishes.outside_quota).then(|| of("cpu").map(&mut placement)).transpose()?;
    let memory = wishes.memory.is_some().then(|| of("memory").map(&mut placement)).transpose()?;
    if let (Some(at), Some(quota)) = (processor, quota) {
        let limits = quota_limits(quota, placements[at].hierarchy.version);
        placements[at].limits.extend(limits);
    }
    if let (Some(at), Some(bytes)) = (memory, wishes.memory) {
        let file = match placements[at].hierarchy.version {
            Version::One => "memory.limit_in_bytes",
            Version::Two => "memory.max",
        };
        placements[at].limits.push(Limit { file, value: bytes.to_string() });
    }
    for placement in placements.iter_mut().filter(|one| one.hierarchy.version == Version::Two) {
        placement.rise()?;
    }
    if let Some(at) = processor.filter(|_| wishes.outside_quota) {
        let root = placements[at].hierarchy.root.clone();
        placements[at].parent = root;
    }
    Ok(placements)
}

fn quota_limits(processors: f64, version: Version) -> Vec<Limit> {
    let microseconds = (processors * PERIOD_MICROSECONDS as f64).round() as u64;
    match version {
        Version::One => vec![
            Limit { file: "cpu.cfs_period_us", value: PERIOD_MICROSECONDS.to_string() },
            Limit { file: "cpu.cfs_quota_us", value: microseconds.to_string() },
        ],
        Version::Two => vec![Limit { file: "cpu.max", value: format!("{microseconds} {PERIOD_MICROSECONDS}") }],
    }
}

impl Placement<'_> {
    /// Moves the parent up to the nearest group that hands the controllers on: in version 2 one that holds processes, as
    /// our own does, cannot.
    fn rise(&mut self) -> Result<(), LabError> {
        let needed = self.limits.iter().filter_map(|limit| limit.file.split('.').next()).collect::<BTreeSet<_>>();
        let hands_on = |folder: &Path| {
            let text = std::fs::read_to_string(folder.join("cgroup.subtree_control")).unwrap_or_default();
            needed.iter().all(|controller| text.split_whitespace().any(|name| name == *controller))
        };
        let root = &self.hierarchy.root;
        let own = self.hierarchy.own.clone();
        let mut above = own.ancestors().take_while(|folder| folder.starts_with(root));
        let found = above.find(|folder| hands_on(folder)).ok_or_else(|| {
            let needed = needed.iter().copied().collect::<Vec<_>>().join(" and ");
            LabError::World(format!("no control group above {} delegates the controller {needed}", own.display()))
        })?;
        self.parent = found.to_path_buf();
        Ok(())
    }
}

impl Limit {
    /// Writes it, and looks whether it was taken over.
    fn set(&self, folder: &Path) -> Result<(), LabError> {
        let file = folder.join(self.file);
        group::set(folder, self.file, &self.value).map_err(LabError::io(&file))?;
        let shown = std::fs::read_to_string(&file).map_err(LabError::io(&file))?.trim().to_string();
        if shown == self.value || is_same_memory(&shown, &self.value) {
            return Ok(());
        }
        Err(LabError::NotTaken { what: file.display().to_string(), asked: self.value.clone(), shown })
    }
}

/// The kernel rounds memory down to whole pages, which are of at most 64 KiB.
fn is_same_memory(shown: &str, asked: &str) -> bool {
    match (shown.parse::<u64>(), asked.parse::<u64>()) {
        (Ok(shown), Ok(asked)) => shown <= asked && asked - shown < 65_536,
        _ => false,
    }
}

/// Whether neither a group nor any above it, up to the root that can be seen, limits CPU time.
fn is_unlimited(base: &Path) -> bool {
    let read = |file: PathBuf| std::fs::read_to_string(file).unwrap_or_default();
    let is_free = |folder: &Path| {
        let (quota, most) = (read(folder.join("cpu.cfs_quota_us")), read(folder.join("cpu.max")));
        quota.trim().parse::<i64>().map_or(true, |quota| quota <= 0) && (most.is_empty() || most.starts_with("max"))
    };
    base.ancestors().take_while(|folder| folder.join("cgroup.procs").exists()).all(is_free)
}
