//! A proxy of the system's (nginx) put between programs and a server that they ask, in a network of theirs: connects to the server
//! reach the proxy, by a program of the kernel's on the subject's group, whatever language they are made from.
//!
//! Undo: the proxy is a process of the subject's user that leads a session of ours, and ends with us; connects go where they are
//! made to as soon as the kernel's program is gone.

mod configuration;

use crate::LabError;
use crate::journal::{Entry, Journal};
use crate::sessions::Sessions;
use crate::staged;
use crate::treatment::{End, Proxy, ProxyTask, Treatment};
use record::{Network, Output, ParentDeathSignal, Program, Running, User};
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Read;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What it needs to listen: a hundred times what it takes here.
const LONGEST_START: Duration = Duration::from_secs(3);
/// How often is looked whether it listens.
const TICK: Duration = Duration::from_millis(2);
/// As much is read of what it noted of requests: 3 bytes each.
const MOST_NOTED: u64 = 64 << 20;

/// The proxies of a trial. They end when this is dropped.
pub(crate) struct Proxies {
    // In the order in which they are to go.
    sessions: Option<Sessions>,
    running: Vec<Started>,
    folder: Folder,
}

/// Their folder, which is removed when dropped.
struct Folder {
    path: PathBuf,
    journal: Journal,
    entry: Entry,
}

/// A proxy at work.
struct Started {
    process: Running,
    before: SocketAddr,
    at: SocketAddr,
    /// What it notes of each request: a digit for each of its tasks.
    notes: PathBuf,
    tasks: Vec<ProxyTask>,
}

/// In whose networks they are.
#[derive(Clone, Copy)]
pub(crate) struct Networks {
    /// Processes of the client and of the server, held, where each has a network of its own.
    pub pids: Option<(u32, u32)>,
    /// Whom they run as.
    pub user: Option<User>,
}

impl Proxies {
    /// Starts what a treatment wants; none where it wants none.
    ///
    /// # Errors
    /// Where one cannot be started; the others are gone by then.
    pub fn start(treatment: &Treatment, networks: Networks, journal: &Journal) -> Result<Option<Proxies>, LabError> {
        if treatment.proxies.is_empty() {
            return Ok(None);
        }
        let program = record::nginx().ok_or_else(|| LabError::World("nginx is not installed".to_string()))?;
        let (path, entry) = staged::make(journal)?;
        let folder = Folder { path, journal: journal.clone(), entry };
        let mut proxies = Proxies { sessions: None, running: Vec::new(), folder };
        // The server's first: the client's asks it where both stand before the same.
        let mut wanted = treatment.proxies.iter().collect::<Vec<_>>();
        wanted.sort_by_key(|proxy| proxy.end == End::Client);
        for proxy in wanted {
            let asks = proxies.redirected().get(&proxy.before).copied().unwrap_or(proxy.before);
            let started = proxies.start_one(program, proxy, asks, networks)?;
            proxies.running.push(started);
        }
        let pids = proxies.pids();
        proxies.sessions = Some(Sessions::take(&pids, journal));
        Ok(Some(proxies))
    }

    fn start_one(
        &self,
        program: &str,
        proxy: &Proxy,
        asks: SocketAddr,
        networks: Networks,
    ) -> Result<Started, LabError> {
        // What the proxy writes is in a folder of its user's; what we write is not: there a link could be in our way.
        let name = format!("proxy-{}", self.running.len());
        let beside = |ending: &str| self.folder.path.join(format!("{name}.{ending}"));
        let folder = self.folder.path.join(&name);
        std::fs::create_dir(&folder).map_err(LabError::io(&folder))?;
        if let Some(User { uid, gid }) = networks.user {
            std::os::unix::fs::chown(&folder, Some(uid), Some(gid)).map_err(LabError::io(&folder))?;
        }
        let at = SocketAddr::new(proxy.listens_on, free_port()?);
        let (written, errors) = (beside("conf"), beside("errors"));
        let text = configuration::of(proxy, at, asks, &folder);
        std::fs::write(&written, text).map_err(LabError::io(&written))?;
        staged::set_mode(&written, 0o644).map_err(LabError::io(&written))?;
        let words = [program, "-e", "stderr", "-p", &folder.to_string_lossy(), "-c", &written.to_string_lossy()];
        let network = networks.pids.map_or(Network::Shared, |(client, server)| match proxy.end {
            End::Client => Network::Of(client),
            End::Server => Network::Of(server),
        });
        let held = Program {
            arguments: words.map(ToString::to_string).to_vec(),
            user: networks.user,
            network,
            output: Output::File(beside("output")),
            errors: Output::File(errors.clone()),
            parent_death_signal: ParentDeathSignal::Terminate,
            ..Program::default()
        };
        let mut process = held.hold()?.release()?;
        wait_until_it_listens(&mut process, at, &errors)?;
        let tasks = proxy.tasks.iter().cloned().collect();
        Ok(Started { process, before: proxy.before, at, notes: folder.join(configuration::NOTES), tasks })
    }

    /// Where connects go instead, by where they are for: to the client's where both ends have one.
    pub fn redirected(&self) -> BTreeMap<SocketAddr, SocketAddr> {
        self.running.iter().map(|one| (one.before, one.at)).collect()
    }

    /// Their process ids.
    pub fn pids(&self) -> Vec<u32> {
        self.running.iter().map(|one| one.process.pid()).collect()
    }

    /// For how many requests each task was done so far.
    pub fn counts(&self) -> BTreeMap<ProxyTask, u64> {
        let mut counts = BTreeMap::new();
        for one in &self.running {
            let notes = noted(&one.notes);
            for (place, task) in one.tasks.iter().enumerate() {
                let done = notes.split(|byte| *byte == b'\n').filter(|line| line.get(place) == Some(&b'1')).count();
                *counts.entry(task.clone()).or_insert(0) += done as u64;
            }
        }
        counts
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if std::fs::remove_dir_all(&self.path).is_ok() {
            self.journal.tick_off(self.entry);
        }
    }
}

/// A port that nobody has, as far as this host goes.
fn free_port() -> Result<u16, LabError> {
    let any = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
    any.map(|address| address.port()).map_err(|error| LabError::World(format!("no port is free: {error}")))
}

fn wait_until_it_listens(process: &mut Running, at: SocketAddr, errors: &Path) -> Result<(), LabError> {
    let deadline = Instant::now() + LONGEST_START;
    while !record::process_ports(process.pid()).contains(&at.port()) {
        let has_ended = process.poll()?.is_some();
        if has_ended || Instant::now() > deadline {
            let said = String::from_utf8_lossy(&noted(errors)).lines().last().unwrap_or_default().to_string();
            return Err(LabError::World(format!("nginx does not listen on {at}: {said}")));
        }
        std::thread::sleep(TICK);
    }
    Ok(())
}

/// What is in a file of the proxy's, which is the subject's user's: nothing where it is no file any more.
fn noted(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
    if let Ok(file) = OpenOptions::new().read(true).custom_flags(flags).open(path) {
        // What cannot be read was not done.
        let _ = file.take(MOST_NOTED).read_to_end(&mut bytes);
    }
    bytes
}
