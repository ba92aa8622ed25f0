//! Having something made that only root makes: the broker checks the job and starts a maker for it, which says how far it has got.

use super::mirror;
use super::needs::Need;
use super::refusal::Refusal;
use super::store::{Store, roots::roots};
use crate::LabError;
use broker::{Reply, Request, ask, check_root, message, with_files};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};
use serde::{Deserialize, Serialize};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The first argument by which this program is the maker.
pub const ARGUMENT: &str = "--maker";
/// What it is called.
const NAME: &str = "whyslow-maker";
/// How long the command waits before it looks whether the user wants an end.
const TURN: Duration = Duration::from_millis(100);
/// Where it finds the system's programs.
const PATH: &str = "/usr/sbin:/usr/bin:/sbin:/bin";
/// The variables of ours that it is given: where root's cache is, where packages come from, and by which proxies.
const VARIABLES: [&str; 8] = [
    "WHYSLOW_CACHE",
    "WHYSLOW_MIRROR",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
];

/// Those that were started: they are waited for when the next one is.
static STARTED: Mutex<Vec<Child>> = Mutex::new(Vec::new());

/// What it is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Job {
    /// Make a release that has some packages.
    Release { suite: String, needs: Vec<Need> },
    /// Install packages of a release, by name and version, over a tree, and keep what that changes until nobody listens.
    Install { suite: String, packages: Vec<(String, String)>, base: PathBuf },
}

impl Job {
    /// Whether it names nothing but what it may.
    ///
    /// # Errors
    /// Where it does.
    pub fn check(&self, store: &Store) -> Result<(), LabError> {
        let (Job::Release { suite, .. } | Job::Install { suite, .. }) = self;
        mirror::check_suite(suite)?;
        match self {
            Job::Release { needs, .. } => needs.iter().try_for_each(|need| mirror::check_package(&need.package)),
            Job::Install { packages, base, .. } => {
                packages.iter().try_for_each(|(name, _)| mirror::check_package(name))?;
                packages.iter().try_for_each(|(_, version)| mirror::check_version(version))?;
                let is_roots = base == Path::new("/") || store.worlds()?.iter().any(|world| world.tree == *base);
                if is_roots { Ok(()) } else { Err(not_roots(base)) }
            }
        }
    }
}

/// What it says.
#[derive(Serialize, Deserialize)]
pub(super) enum Told {
    /// What it does now.
    Doing(String),
    /// The world, by its name.
    Made(String),
    /// The layer, the command that does the same, and what apt did.
    Installed(PathBuf, String, Vec<String>),
    /// Why it did not.
    Refused(Refusal),
}

/// Asks for a world to be made, or for packages to be installed over one: by a process of its own, which says how far it has got.
#[derive(Serialize, Deserialize)]
pub(crate) struct StartMaker {
    pub job: Job,
}

impl Request for StartMaker {
    const NAME: &'static str = "start-maker";
    const CHECKS: &'static str = "names of a release and of packages, with their versions, that are nothing else; over the host or a world of root's \
         cache; by whyslow itself, with what root's cache and the mirror are called and no other variable of the caller's but those of \
         proxies";
    type Answer = Result<(), Refusal>;

    fn carry_out(self, _: Vec<OwnedFd>) -> io::Result<Reply<Self::Answer>> {
        if check_root().is_err() {
            let checked = self.job.check(&roots()?).and_then(|()| mirror::check_mirror(&mirror::mirror()));
            if let Err(error) = checked {
                return broker::reply(Err(error.into()));
            }
        }
        with_files(Ok(()), vec![start(&self.job)?])
    }
}

/// Starts one for a job that was checked: our end of what connects us.
fn start(job: &Job) -> io::Result<OwnedFd> {
    let (ours, theirs) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)?;
    message::send(ours.as_fd(), &serde_json::to_vec(job)?, &[])?;
    let mut command = Command::new("/proc/self/exe");
    command.arg0(NAME).arg(ARGUMENT).env_clear().current_dir("/").stdin(theirs).stdout(Stdio::null());
    command.env("PATH", PATH).envs(VARIABLES.iter().filter_map(|name| Some((*name, std::env::var_os(name)?))));
    // A group of its own: what a terminal sends is for the command, which lets go of it.
    let child = command.process_group(0).stderr(Stdio::null()).spawn()?;
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    started.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
    started.push(child);
    Ok(ours)
}

/// Whether the other end has something to say, or is closed.
pub(super) fn has_word(socket: BorrowedFd, longest: Duration) -> bool {
    let timeout = PollTimeout::try_from(longest).unwrap_or(PollTimeout::MAX);
    poll(&mut [PollFd::new(socket, PollFlags::POLLIN)], timeout).is_ok_and(|ready| ready > 0)
}

/// Has the maker make a release: the world's name.
pub(super) fn release(
    suite: &str,
    needs: &[Need],
    say: &dyn Fn(&str),
    wait: &mut dyn FnMut(Duration) -> bool,
) -> Result<String, LabError> {
    let job = Job::Release { suite: suite.to_string(), needs: needs.to_vec() };
    match made(job, say, wait)? {
        (Told::Made(name), _) => Ok(name),
        _ => Err(gone()),
    }
}

/// Has it install packages over a tree: the layer, the command, what apt did, and what keeps the layer there.
pub(super) fn install(
    suite: &str,
    packages: &[(String, String)],
    base: &Path,
    say: &dyn Fn(&str),
    wait: &mut dyn FnMut(Duration) -> bool,
) -> Result<(PathBuf, String, Vec<String>, OwnedFd), LabError> {
    let base = record::trees::real(base);
    let job = Job::Install { suite: suite.to_string(), packages: packages.to_vec(), base };
    match made(job, say, wait)? {
        (Told::Installed(layer, command, done), socket) => Ok((layer, command, done, socket)),
        _ => Err(gone()),
    }
}

/// Has a job done: the last word, and what connects us.
fn made(job: Job, say: &dyn Fn(&str), wait: &mut dyn FnMut(Duration) -> bool) -> Result<(Told, OwnedFd), LabError> {
    let started = ask(StartMaker { job }, &[]).map_err(LabError::io("making a world"))?;
    started.answer?;
    let socket = started.files.into_iter().next().ok_or_else(gone)?;
    loop {
        while has_word(socket.as_fd(), Duration::ZERO) {
            let word = message::receive(socket.as_fd()).ok().flatten().ok_or_else(gone)?;
            match serde_json::from_slice(&word.0).map_err(|_| gone())? {
                Told::Doing(line) => say(&line),
                Told::Refused(refusal) => return Err(refusal.into()),
                told => return Ok((told, socket)),
            }
        }
        if wait(TURN) {
            return Err(LabError::Interrupted);
        }
    }
}

fn gone() -> LabError {
    LabError::World("the process that makes worlds ended without reporting anything".to_string())
}

fn not_roots(base: &Path) -> LabError {
    let why = format!("{} is not root's: apt would execute what others have put there", base.display());
    LabError::NoWorld { world: "packages over a world".to_string(), why, remedy: "whyslow world list".to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_names_releases_packages_and_worlds_of_roots_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::at(folder.path()).expect("a store");
        let need = |package: &str| Need { package: package.to_string(), role: String::new() };
        let release = |suite: &str, package: &str| Job::Release { suite: suite.into(), needs: vec![need(package)] };
        assert!(release("bookworm", "curl").check(&store).is_ok());
        for (suite, package) in [("../x", "curl"), ("--help", "curl"), ("bookworm", "-o=x"), ("bookworm", "a b")] {
            assert!(release(suite, package).check(&store).is_err(), "{suite} {package}");
        }
        let install = |base: &str, version: &str| {
            let packages = vec![("curl".to_string(), version.to_string())];
            Job::Install { suite: "bookworm".into(), packages, base: base.into() }
        };
        assert!(install("/", "7.88.1-10+deb12u5").check(&store).is_ok());
        for (base, version) in [("/tmp", "1"), ("/home/../", "1"), ("/", "1;x"), ("/", "$(x)"), ("/", "")] {
            assert!(install(base, version).check(&store).is_err(), "{base} {version}");
        }
    }
}
