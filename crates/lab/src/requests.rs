//! What worlds, undo and interventions ask of the broker, and the list of it.

use crate::LabError;
use crate::journal::{Journal, Undo};
use crate::link::{Link, LinkError};
use crate::repair::{Repair, Repaired, repair_here};
use crate::staged;
use crate::{group, link};
use broker::{Entry, Reply, Request, check_group, check_subject, reply, with_files};
use serde::{Deserialize, Serialize};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// All that the laboratory asks of the broker.
pub const REQUESTS: [Entry; 7] = [
    Entry::of::<broker::SetGroup>(),
    Entry::of::<broker::Enter>(),
    Entry::of::<Network>(),
    Entry::of::<Note>(),
    Entry::of::<TickOff>(),
    Entry::of::<Mend>(),
    Entry::of::<SetQuota>(),
];

/// The broker's journal, once something was written down.
static JOURNAL: Mutex<Option<Journal>> = Mutex::new(None);
/// The files that set a quota of CPU time.
const QUOTAS: [&str; 2] = ["cpu.max", "cpu.cfs_quota_us"];

/// Asks for something in the networks of processes that are held.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Network {
    /// Their namespaces are joined.
    Join { link: Link, client: u32, server: u32 },
    /// A route is changed.
    Route { pid: u32, words: String },
    /// The route to the other end acknowledges at once.
    Acknowledge { pid: u32 },
    /// A setting below `net.` is made; what it is afterwards.
    Setting { pid: u32, name: String, value: String },
}

impl Request for Network {
    const NAME: &'static str = "network";
    const CHECKS: &'static str = "the processes are the subject's, in networks that are not the host's; ip and tc of the system's, without the caller's \
         environment; settings below net. only";
    type Answer = Result<String, LinkError>;

    fn carry_out(self, _: Vec<OwnedFd>) -> io::Result<Reply<Self::Answer>> {
        let pids = match &self {
            Network::Join { client, server, .. } => vec![*client, *server],
            Network::Route { pid, .. } | Network::Acknowledge { pid } | Network::Setting { pid, .. } => vec![*pid],
        };
        pids.into_iter().try_for_each(check_network)?;
        let nothing = |()| String::new();
        let mut tunnels = Vec::new();
        let answer = match self {
            Network::Join { link, client, server } => link.join_here(client, server).map(|opened| {
                tunnels = opened;
                String::new()
            }),
            Network::Route { pid, words } => link::change_route_here(pid, &words).map(nothing),
            Network::Acknowledge { pid } => link::acknowledge_at_once_here(pid).map(nothing),
            Network::Setting { pid, name, value } => link::set_here(pid, &name, &value),
        };
        with_files(answer, tunnels)
    }
}

/// Nothing is changed in the network that we are in ourselves.
fn check_network(pid: u32) -> io::Result<()> {
    check_subject(pid)?;
    let namespace = |name: &str| std::fs::read_link(format!("/proc/{name}/ns/net"));
    if broker::is_broker() && namespace(&pid.to_string())? == namespace("self")? {
        return Err(io::Error::from_raw_os_error(libc::EPERM));
    }
    Ok(())
}

/// Asks for undos to be written down; their numbers.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Note {
    pub undos: Vec<Undo>,
}

impl Request for Note {
    const NAME: &'static str = "note-undo";
    const CHECKS: &'static str = "each undo is of a group of this run, a process of the subject's, a quota of a group in which it alone runs, or a folder \
         named after this run, which is removed with its owner's rights";
    type Answer = Vec<u64>;

    fn carry_out(self, _: Vec<OwnedFd>) -> io::Result<Reply<Vec<u64>>> {
        let undos = self.undos.into_iter().map(checked).collect::<io::Result<Vec<_>>>()?;
        let mut journal = JOURNAL.lock().unwrap_or_else(PoisonError::into_inner);
        let opened = || Journal::open_here().map_err(|error| io::Error::other(error.to_string()));
        if journal.is_none() {
            *journal = Some(opened()?);
        }
        let noted = journal.as_ref().map(|journal| journal.note_numbers(&undos));
        reply(noted.unwrap_or_else(|| Ok(Vec::new())).map_err(|error| io::Error::other(error.to_string()))?)
    }
}

/// An undo as it is written down, once it is known to be of this run's.
fn checked(undo: Undo) -> io::Result<Undo> {
    match &undo {
        Undo::Group { folder, .. } => check_group(folder)?,
        Undo::Session { leader: pid, .. } | Undo::Sockets { pid, .. } => check_subject(*pid)?,
        Undo::Quota { file, .. } => check_quota(file)?,
        Undo::Folder { path, .. } => staged::check(path)?,
    }
    Ok(match (undo, broker::becomes()) {
        (Undo::Folder { path, .. }, Some(owner)) => Undo::Folder { path, owner: Some(owner.uid) },
        (undo, _) => undo,
    })
}

/// Whether a file sets the quota of a group in which nobody but the subject runs.
fn check_quota(file: &Path) -> io::Result<()> {
    let is_quota = file.file_name().is_some_and(|name| QUOTAS.iter().any(|quota| name == *quota));
    let members = file.parent().map(group::members).unwrap_or_default();
    if broker::is_broker() && (!is_quota || members.is_empty()) {
        return Err(io::Error::from_raw_os_error(libc::EPERM));
    }
    members.into_iter().try_for_each(check_subject)
}

/// Asks for an undo to be ticked off.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct TickOff {
    pub entry: u64,
}

impl Request for TickOff {
    const NAME: &'static str = "tick-off-undo";
    const CHECKS: &'static str = "only what this run has written down, by its number";
    type Answer = ();

    fn carry_out(self, _: Vec<OwnedFd>) -> io::Result<Reply<()>> {
        if let Some(journal) = &*JOURNAL.lock().unwrap_or_else(PoisonError::into_inner) {
            journal.tick_off_number(self.entry);
        }
        reply(())
    }
}

/// Asks for what runs that are gone have left behind to be undone.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Mend {
    pub which: Repair,
}

impl Request for Mend {
    const NAME: &'static str = "repair";
    const CHECKS: &'static str =
        "only what journals say that nobody but root can have written, of owners that are gone";
    type Answer = Result<Repaired, String>;

    fn carry_out(self, _: Vec<OwnedFd>) -> io::Result<Reply<Self::Answer>> {
        reply(repair_here(self.which).map_err(|error| error.to_string()))
    }
}

/// Asks for a quota of CPU time to be lifted or put back.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SetQuota {
    pub file: PathBuf,
    pub value: String,
}

impl Request for SetQuota {
    const NAME: &'static str = "set-quota";
    const CHECKS: &'static str = "the quota of a group in which nobody but the subject runs";
    type Answer = ();

    fn carry_out(self, _: Vec<OwnedFd>) -> io::Result<Reply<()>> {
        check_quota(&self.file)?;
        std::fs::write(&self.file, &self.value)?;
        reply(())
    }
}

/// Has a request about networks carried out.
pub(crate) fn network(request: Network) -> Result<String, LinkError> {
    ask_network(request)?.answer
}

/// Has two networks joined; the tunnels between them, where we carry the packets.
pub(crate) fn join(request: Network) -> Result<Vec<OwnedFd>, LinkError> {
    let Reply { answer, files } = ask_network(request)?;
    answer.map(|_| files)
}

fn ask_network(request: Network) -> Result<Reply<Result<String, LinkError>>, LinkError> {
    let failed =
        |error: io::Error| LinkError::Command { command: "the network".to_string(), reason: error.to_string() };
    broker::ask(request, &[]).map_err(failed)
}

/// Has what runs that are gone have left behind undone.
pub(crate) fn mend(which: Repair) -> Result<Repaired, LabError> {
    let answer = broker::ask(Mend { which }, &[]).map(|reply| reply.answer);
    answer.unwrap_or_else(|error| Err(error.to_string())).map_err(LabError::World)
}
