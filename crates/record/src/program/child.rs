//! What happens in the new process between fork and exec. Everything that needs memory is prepared before the fork;
//! after it only calls that are safe in a forked thread are made, and every failure is one word to the parent.

use super::c_string::c_string;
use super::environment::{environment, groups};
use super::streams::Streams;
use super::surroundings::{Refused, Surroundings};
use super::{Network, ParentDeathSignal, Program, User, search};
use crate::RecordError;
use std::ffi::{CString, OsStr};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::path::Path;

/// The child stands in its namespaces and waits.
pub(super) const READY: i32 = 0;
/// It could not make its network namespace.
const NETWORK: i32 = 1;
/// It could not bring loopback up.
const LOOPBACK: i32 = 2;
/// It could not arrange its input and output.
const OUTPUT: i32 = 3;
/// It could not become the user asked for.
const USER: i32 = 4;
/// The kernel did not execute the program.
pub(super) const EXECUTE: i32 = 5;
/// It could not enter its folder.
const FOLDER: i32 = 6;
/// It could not confine itself to its processors.
const PROCESSORS: i32 = 7;
/// It could not make its mount namespace.
const NAMESPACE: i32 = 8;
/// It could not put its tree of files together.
const TREE: i32 = 9;
/// It could not show a file in the place of another: the first of them, and so on.
const MOUNT: i32 = 1_000;

/// One message from child to parent: how far it got, and the error number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    pub step: i32,
    pub error: i32,
}

impl Word {
    /// Small enough for a pipe to pass it whole.
    pub const SIZE: usize = 8;

    pub fn from_bytes(bytes: [u8; Word::SIZE]) -> Word {
        let both = u64::from_ne_bytes(bytes);
        Word { step: (both >> 32) as i32, error: both as i32 }
    }

    fn to_bytes(self) -> [u8; Word::SIZE] {
        ((self.step as u64) << 32 | u64::from(self.error as u32)).to_ne_bytes()
    }
}

/// What was being done when a step failed.
pub(super) fn describe(step: i32, program: &Program) -> String {
    let what = match step {
        NETWORK => "making a network namespace",
        LOOPBACK => "bringing loopback up in a network namespace",
        OUTPUT => "arranging the program's input and output",
        USER => "becoming the user that the program is to run as",
        FOLDER => {
            let folder = program.folder.as_deref().unwrap_or(Path::new(".")).display();
            return format!("entering the folder {folder}");
        }
        PROCESSORS => return format!("keeping the program to the processors {:?}", program.processors),
        NAMESPACE => "making a mount namespace",
        TREE => "putting together the tree of files that the program is to see",
        _ => match program.mounts.get((step - MOUNT).max(0) as usize).filter(|_| step >= MOUNT) {
            Some(mount) => {
                let (source, target) = (mount.source.display(), mount.target.display());
                return format!("showing {source} to the program in the place of {target}");
            }
            None => "starting the program",
        },
    };
    what.to_string()
}

/// All that the child needs, in the form in which it needs it.
pub(super) struct Launch {
    path: CString,
    arguments: Vec<CString>,
    environment: Vec<CString>,
    user: Option<User>,
    groups: Vec<libc::gid_t>,
    network: Network,
    streams: Streams,
    surroundings: Surroundings,
    parent_death_signal: ParentDeathSignal,
    gate: RawFd,
    words: RawFd,
    /// The parent's ends, which the child must not keep: it would never see the parent go.
    parents: [RawFd; 2],
}

impl Launch {
    pub fn prepare(
        program: &Program,
        gate: &OwnedFd,
        gate_write: &OwnedFd,
        words_read: &OwnedFd,
        words: &OwnedFd,
    ) -> Result<Launch, RecordError> {
        let name = program.arguments.first().ok_or_else(|| RecordError::NotFound(String::new()))?;
        let arguments = program.arguments.iter().map(|argument| c_string(OsStr::new(argument)));
        let change = program.user.filter(|user| *user != ourselves());
        Ok(Launch {
            path: c_string(search::find(name, program)?.as_os_str())?,
            arguments: arguments.collect::<Result<_, _>>()?,
            environment: environment(program, change)?,
            user: change,
            groups: change.map(groups).unwrap_or_default(),
            network: program.network,
            streams: Streams::open(&program.input, &program.output, &program.errors, program.parent_death_signal)?,
            surroundings: Surroundings::prepare(program)?,
            parent_death_signal: program.parent_death_signal,
            gate: gate.as_raw_fd(),
            words: words.as_raw_fd(),
            parents: [gate_write.as_raw_fd(), words_read.as_raw_fd()],
        })
    }

    /// Makes the child; returns in the parent only.
    pub fn fork(&self) -> Result<u32, RecordError> {
        let arguments = pointers(&self.arguments);
        let environment = pointers(&self.environment);
        let parent = std::process::id();
        // SAFETY: the child calls nothing but `run`, which makes async-signal-safe calls only and never returns.
        match unsafe { libc::fork() } {
            0 => self.run(&arguments, &environment, parent),
            pid if pid > 0 => Ok(pid as u32),
            _ => Err(RecordError::io("making a process")(std::io::Error::last_os_error())),
        }
    }

    fn run(&self, arguments: &[*const libc::c_char], environment: &[*const libc::c_char], parent: u32) -> ! {
        // SAFETY: all calls are async-signal-safe and take numbers or memory prepared before the fork.
        unsafe {
            for end in self.parents {
                libc::close(end);
            }
            self.enter_network();
            self.arrange_surroundings();
            self.arrange_streams();
            self.say(Word { step: READY, error: 0 });
            let mut byte = 0_u8;
            if libc::read(self.gate, (&raw mut byte).cast(), 1) != 1 {
                libc::_exit(0);
            }
            self.become_user();
            if !self.surroundings.enter_folder() {
                self.fail(FOLDER);
            }
            if self.parent_death_signal == ParentDeathSignal::Terminate {
                // Only now: becoming another user clears it. The parent may have gone before it was set.
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
                if libc::getppid() as u32 != parent {
                    libc::_exit(0);
                }
            }
            reset_signals();
            libc::execve(self.path.as_ptr(), arguments.as_ptr(), environment.as_ptr());
            self.fail(EXECUTE)
        }
    }

    /// SAFETY: as `run`.
    unsafe fn enter_network(&self) {
        if self.network == Network::Shared {
            return;
        }
        // SAFETY: system calls with numbers, and `request`, which lives on the stack.
        unsafe {
            if libc::unshare(libc::CLONE_NEWNET) != 0 {
                self.fail(NETWORK);
            }
            let socket = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
            let mut request: libc::ifreq = std::mem::zeroed();
            request.ifr_name[0] = b'l' as libc::c_char;
            request.ifr_name[1] = b'o' as libc::c_char;
            request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
            if socket < 0 || libc::ioctl(socket, libc::SIOCSIFFLAGS as _, &raw const request) != 0 {
                self.fail(LOOPBACK);
            }
            libc::close(socket);
        }
    }

    /// SAFETY: as `run`.
    unsafe fn arrange_surroundings(&self) {
        // SAFETY: as `run`.
        unsafe {
            match self.surroundings.mount() {
                Ok(()) => {}
                Err(Refused::Namespace) => self.fail(NAMESPACE),
                Err(Refused::Tree) => self.fail(TREE),
                Err(Refused::Mount(place)) => self.fail(MOUNT + place as i32),
            }
            if !self.surroundings.confine() {
                self.fail(PROCESSORS);
            }
        }
    }

    /// SAFETY: as `run`.
    unsafe fn arrange_streams(&self) {
        // SAFETY: as `run`.
        unsafe {
            if !self.streams.arrange() {
                self.fail(OUTPUT);
            }
            if self.parent_death_signal == ParentDeathSignal::Terminate {
                libc::setsid();
            }
        }
    }

    /// SAFETY: as `run`.
    unsafe fn become_user(&self) {
        let Some(User { uid, gid }) = self.user else { return };
        // SAFETY: system calls with numbers and a list prepared before the fork. Groups first: after the user has
        // changed they no longer can be.
        let failed = unsafe {
            libc::setgroups(self.groups.len(), self.groups.as_ptr()) != 0
                || libc::setresgid(gid, gid, gid) != 0
                || libc::setresuid(uid, uid, uid) != 0
        };
        if failed {
            self.fail(USER);
        }
    }

    fn say(&self, word: Word) {
        let bytes = word.to_bytes();
        // SAFETY: the bytes outlive the call. Should the parent be gone, the gate will tell.
        unsafe { libc::write(self.words, bytes.as_ptr().cast(), bytes.len()) };
    }

    fn fail(&self, step: i32) -> ! {
        // SAFETY: the address of the thread's own errno is always valid; _exit never returns.
        unsafe {
            let error = *libc::__errno_location();
            self.say(Word { step, error });
            libc::_exit(127)
        }
    }
}

/// Gives every signal that we handle (and SIGPIPE, which Rust ignores) back its default, and unblocks all. What was
/// ignored when we were started, as by nohup, stays ignored.
///
/// SAFETY: as `Launch::run`.
unsafe fn reset_signals() {
    // SAFETY: the structures live on the stack; unknown numbers are refused by the kernel without effect.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        for signal in 1..=libc::SIGRTMAX() {
            let known = libc::sigaction(signal, std::ptr::null(), &raw mut action) == 0;
            if known && (signal == libc::SIGPIPE || action.sa_sigaction > libc::SIG_IGN) {
                action = std::mem::zeroed();
                libc::sigaction(signal, &raw const action, std::ptr::null_mut());
            }
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

fn ourselves() -> User {
    User { uid: nix::unistd::geteuid().as_raw(), gid: nix::unistd::getegid().as_raw() }
}

/// The array of pointers, ended by a null, that execve wants.
fn pointers(strings: &[CString]) -> Vec<*const libc::c_char> {
    strings.iter().map(|string| string.as_ptr()).chain([std::ptr::null()]).collect()
}
