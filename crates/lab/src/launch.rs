//! A subject set into a world with a treatment attached: both its ends made and held, nothing of theirs executed yet.

use crate::LabError;
use crate::attached::Attached;
use crate::groups::{Groups, Wishes};
use crate::journal::{Journal, Members};
use crate::link::{self, Link};
use crate::proxy::{Networks, Proxies};
use crate::sessions::Sessions;
use crate::staged::Staged;
use crate::treatment::{End, NetworkChange, Treatment};
use crate::world::World;
use case::Names;
use record::{Held, Input, Mount, Network, Output, ParentDeathSignal, Program, User};
use std::ffi::OsString;

/// What is studied.
#[derive(Clone, Debug, Default)]
pub struct Subject {
    /// The command under study.
    pub client: Vec<String>,
    /// The command of its server.
    pub server: Option<Vec<String>>,
    /// Whom both run as; none stays as we are.
    pub user: Option<User>,
    /// The client's standard input.
    pub input: Input,
    /// Whether names are kept in what is recorded of them.
    pub names: Names,
}

impl Subject {
    /// Programs of a world, `{client}` and `{server}` in their commands replaced by its addresses. They run as we are, and
    /// the client reads nothing.
    ///
    /// # Errors
    /// Where the world has a link, and there is no server for its other end.
    pub fn within(world: &World, client: &[String], server: Option<&[String]>) -> Result<Subject, LabError> {
        if world.link.is_some() && server.is_none() {
            return Err(LabError::NoServer);
        }
        let filled = |words: &[String]| world.addresses().fill(words);
        Ok(Subject { client: filled(client), server: server.map(filled), ..Subject::default() })
    }
}

/// Where the programs' words go.
#[derive(Clone, Debug, Default)]
pub struct Outputs {
    /// The client's standard output.
    pub client: Output,
    /// The client's standard error.
    pub client_errors: Output,
    /// The server's standard output.
    pub server: Output,
    /// The server's standard error.
    pub server_errors: Output,
}

/// Whose client it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The user's, who wants it watched: it is never killed, and runs on should we end.
    Watched,
    /// Ours, for a trial: it ends when we do, and with the trial at the latest.
    Trial,
}

/// A subject ready to begin. The server is to be released first.
pub struct Launch {
    /// The client, held.
    pub client: Held,
    /// The server, held.
    pub server: Option<Held>,
    /// What is attached to them. To be kept for as long as they run.
    pub attached: Attached,
}

impl Launch {
    /// Makes the processes in their networks and groups, and attaches the treatment.
    ///
    /// What the world asks for is had, or this is an error. What a treatment asks for may be refused by the host: then
    /// [`Attached::notes`] says so, and its counters show that it did not take effect.
    ///
    /// # Errors
    /// Where a program, the world or the files for the subject cannot be made. What was made by then is gone.
    pub fn set(
        subject: &Subject,
        world: &World,
        treatment: &Treatment,
        journal: &Journal,
        outputs: &Outputs,
        kind: Kind,
    ) -> Result<Launch, LabError> {
        world.check().map_err(LabError::World)?;
        let mut attached = Attached::bare();
        attached.groups = make_groups(world, treatment, kind, journal, &mut attached.notes)?;
        attached.staged = Staged::lay(&attached.reachable(treatment), journal)?;
        let programs = Programs { subject, world, treatment, staged: attached.staged.as_ref(), outputs, kind };
        let client = programs.client().hold()?;
        let server = programs.server().map(|server| server.hold()).transpose()?;
        let server_pid = server.as_ref().map(Held::pid);
        let pids = Pids { client: client.pid(), server: server_pid };
        set_up_network(world, treatment, pids, &mut attached)?;
        for (end, pid) in pids.ends() {
            attached.groups.iter_mut().try_for_each(|groups| groups.enter(end, pid))?;
        }
        if attached.groups.is_none() {
            attached.sessions = Some(Sessions::take(&pids.tethered(kind), journal));
        }
        put_between(treatment, world, pids, subject.user, journal, &mut attached);
        attached.watch_sockets(treatment.sockets.as_ref());
        Ok(Launch { client, server, attached })
    }
}

/// The processes of both ends.
#[derive(Clone, Copy)]
struct Pids {
    client: u32,
    server: Option<u32>,
}

impl Pids {
    fn of(self, end: End) -> Option<u32> {
        match end {
            End::Client => Some(self.client),
            End::Server => self.server,
        }
    }

    /// Those that lead a session of ours.
    fn tethered(self, kind: Kind) -> Vec<u32> {
        let client = Some(self.client).filter(|_| kind == Kind::Trial);
        client.into_iter().chain(self.server).collect()
    }

    fn ends(self) -> impl Iterator<Item = (End, u32)> {
        End::BOTH.into_iter().filter_map(move |end| Some((end, self.of(end)?)))
    }
}

/// What is needed to describe the programs.
struct Programs<'a> {
    subject: &'a Subject,
    world: &'a World,
    treatment: &'a Treatment,
    staged: Option<&'a Staged>,
    outputs: &'a Outputs,
    kind: Kind,
}

impl Programs<'_> {
    fn client(&self) -> Program {
        let parent_death_signal = match self.kind {
            Kind::Watched => ParentDeathSignal::None,
            Kind::Trial => ParentDeathSignal::Terminate,
        };
        Program {
            input: self.subject.input.clone(),
            output: self.outputs.client.clone(),
            errors: self.outputs.client_errors.clone(),
            parent_death_signal,
            ..self.program(&self.subject.client, End::Client)
        }
    }

    fn server(&self) -> Option<Program> {
        Some(Program {
            output: self.outputs.server.clone(),
            errors: self.outputs.server_errors.clone(),
            parent_death_signal: ParentDeathSignal::Terminate,
            ..self.program(self.subject.server.as_deref()?, End::Server)
        })
    }

    fn program(&self, arguments: &[String], end: End) -> Program {
        Program {
            arguments: arguments.to_vec(),
            user: self.subject.user,
            network: if self.world.link.is_some() { Network::Own } else { Network::Shared },
            environment: self.environment(),
            folder: self.world.folder.clone(),
            processors: self.world.processors.clone(),
            root: self.world.root_of(end).cloned(),
            mounts: self.mounts(end),
            ..Program::default()
        }
    }

    /// What is shown to an end in the place of its files: where the ends see different trees, what is in its own.
    fn mounts(&self, end: End) -> Vec<Mount> {
        let has = |mount: &&Mount| match (self.world.root_of(end), &self.world.tree) {
            (Some(root), _) => root.resolve(&mount.target).is_some(),
            (None, Some(_)) => mount.target.exists(),
            (None, None) => true,
        };
        self.staged.map(|staged| staged.mounts().iter().filter(has).cloned().collect()).unwrap_or_default()
    }

    /// The world's variables, then the treatment's, then what loads the shims in front of what is loaded anyway.
    fn environment(&self) -> Vec<(OsString, Option<OsString>)> {
        let world = self.world.environment.iter().map(|(name, value)| (name.into(), value.as_ref().map(Into::into)));
        let arranged =
            self.treatment.environment.iter().map(|(name, value)| (name.into(), value.as_ref().map(Into::into)));
        let mut all = world.chain(arranged).collect::<Vec<(OsString, Option<OsString>)>>();
        let preloaded = all.iter().rev().find(|(name, _)| name == "LD_PRELOAD").map(|(_, value)| value.clone());
        let preloaded = preloaded.unwrap_or_else(|| std::env::var_os("LD_PRELOAD"));
        all.extend(self.staged.map(|staged| staged.environment(preloaded)).unwrap_or_default());
        all
    }
}

/// Puts a treatment's proxies where they belong. Connects reach them through the group's program; without one they are left out.
fn put_between(
    treatment: &Treatment,
    world: &World,
    pids: Pids,
    user: Option<User>,
    journal: &Journal,
    attached: &mut Attached,
) {
    let networks = Networks { pids: world.link.and(pids.server).map(|server| (pids.client, server)), user };
    if !treatment.proxies.is_empty() && attached.group().is_none() {
        attached.no_proxy = Some("that needs control groups of version 2".to_string());
        return;
    }
    match Proxies::start(treatment, networks, journal) {
        Ok(started) => attached.proxies = started,
        Err(error) => attached.no_proxy = Some(error.to_string()),
    }
}

/// Joins the networks, makes the world's settings and routes, then the treatment's routes.
fn set_up_network(world: &World, treatment: &Treatment, pids: Pids, attached: &mut Attached) -> Result<(), LabError> {
    let (Some(link), Some(server)) = (world.link, pids.server) else {
        if !treatment.quick_acknowledgements.is_empty() || !treatment.network.is_empty() {
            attached.notes.push("the network was left unchanged: without a link it is the host's".to_string());
        }
        return match world.link {
            Some(_) => Err(LabError::World("a link needs a server at its other end".to_string())),
            None => Ok(()),
        };
    };
    let link = changed_link(link, &treatment.network, attached);
    attached.link = Some(Link::join(&link, pids.client, server)?);
    for (name, value) in &world.settings {
        pids.ends().try_for_each(|(end, pid)| link::change_setting(end, pid, name, value))?;
    }
    for (end, words) in &world.routes {
        pids.of(*end).map_or(Ok(()), |pid| link::change_route(pid, words))?;
    }
    for end in &treatment.quick_acknowledgements {
        match pids.of(*end).map(link::acknowledge_at_once) {
            Some(Ok(())) => attached.routes.push(*end),
            Some(Err(error)) => attached.notes.push(error.to_string()),
            None => {}
        }
    }
    for change in &treatment.network {
        let mut made = pids.ends().map(|(end, pid)| match change {
            NetworkChange::Setting { name, value } => link::change_setting(end, pid, name, value),
            NetworkChange::Route(words) => link::change_route(pid, words),
            NetworkChange::NoLoss | NetworkChange::LargeBucket => Ok(()),
        });
        match made.find_map(Result::err) {
            Some(error) => attached.notes.push(error.to_string()),
            None if matches!(change, NetworkChange::NoLoss | NetworkChange::LargeBucket) => {}
            None => attached.network.push(change.clone()),
        }
    }
    Ok(())
}

/// A link as a treatment wants it.
fn changed_link(mut link: Link, changes: &[NetworkChange], attached: &mut Attached) -> Link {
    if changes.contains(&NetworkChange::NoLoss) && link.loss > 0 {
        link.loss = 0;
        attached.network.push(NetworkChange::NoLoss);
    }
    if let Some(larger) = link.larger_burst().filter(|_| changes.contains(&NetworkChange::LargeBucket)) {
        link.burst = Some(larger);
        attached.network.push(NetworkChange::LargeBucket);
    }
    link
}

/// The groups. Without the rights to make any, a trial goes on without, unless the world needs them.
fn make_groups(
    world: &World,
    treatment: &Treatment,
    kind: Kind,
    journal: &Journal,
    notes: &mut Vec<String>,
) -> Result<Option<Groups>, LabError> {
    let client = match kind {
        Kind::Watched => Members::TheUsers,
        Kind::Trial => Members::Ours,
    };
    let (processor_quota, memory) = (world.processor_quota, world.memory);
    let wishes = Wishes { processor_quota, memory, outside_quota: treatment.outside_quota, client };
    let mut made = Groups::make(&wishes, journal);
    if let (Err(error), true) = (&made, wishes.outside_quota) {
        notes.push(format!("cannot leave the control groups that limit CPU time: {error}"));
        made = Groups::make(&Wishes { outside_quota: false, ..wishes }, journal);
    }
    match made {
        Ok(groups) => Ok(Some(groups)),
        Err(error) if processor_quota.is_some() || memory.is_some() => Err(error),
        Err(error) => {
            notes.push(format!("no control group could be created, so processes are tracked by session only: {error}"));
            Ok(None)
        }
    }
}
