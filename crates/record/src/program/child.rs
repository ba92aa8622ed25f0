//! What happens in the new process between fork and exec. The command plans it, the broker makes it: as root, and as a child of the
//! command's. Everything that needs memory is prepared before the fork;
//! after it only calls that are safe in a forked thread are made, and every failure is one word to the parent.

use super::c_string::c_string;
use super::environment::{environment, groups};
use super::streams::Streams;
use super::surroundings::{Refused, Surroundings};
use super::word::{
    EXECUTE, FOLDER, LOOPBACK, MOUNT, NAMESPACE, NETWORK, OUTPUT, PROCESSORS, READY, TREE, USER, Word, describe,
};
use super::{Network, ParentDeathSignal, Program, Root, User, search};
use crate::RecordError;
use crate::loaded::Refusal;
use broker::{Reply, Request};
use serde::{Deserialize, Serialize};
use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// All that the broker needs to make the child, worked out by the command. The gate's end and that for words come along, then the
/// files for its streams.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Plan {
    path: OsString,
    arguments: Vec<String>,
    environment: Vec<OsString>,
    user: Option<User>,
    network: Network,
    root: Option<Root>,
    mounts: Vec<(OsString, OsString)>,
    processors: Vec<usize>,
    folder: Option<OsString>,
    is_output_to_errors: bool,
    redirected: [bool; 3],
    parent_death_signal: ParentDeathSignal,
    /// The command's ends, which the child must not keep where it has inherited them: it would never see the command go.
    parents: [RawFd; 2],
}

impl Plan {
    /// The plan, and the files for its streams.
    pub(super) fn of(program: &Program, parents: [RawFd; 2]) -> Result<(Plan, Streams), RecordError> {
        let name = program.arguments.first().ok_or_else(|| RecordError::NotFound(String::new()))?;
        let streams = Streams::open(&program.input, &program.output, &program.errors, program.parent_death_signal)?;
        let user = if broker::has_dropped() {
            Some(program.user.unwrap_or_else(ourselves))
        } else {
            program.user.filter(|user| *user != ourselves())
        };
        let mounts = program.mounts.iter().map(|mount| (mount.source.clone().into(), mount.target.clone().into()));
        let plan = Plan {
            path: search::find(name, program)?.into_os_string(),
            arguments: program.arguments.clone(),
            environment: environment(program, user),
            user,
            network: program.network,
            root: program.root.clone().map(Root::with_own_paths),
            mounts: mounts.collect(),
            processors: program.processors.clone(),
            folder: program.folder.clone().map(Into::into),
            is_output_to_errors: streams.is_output_to_errors,
            redirected: streams.files.each_ref().map(Option::is_some),
            parent_death_signal: program.parent_death_signal,
            parents,
        };
        Ok((plan, streams))
    }

    fn fork(self, files: Vec<OwnedFd>) -> Result<u32, RecordError> {
        if let Some(User { uid, gid }) = self.user {
            broker::check_user(broker::Identity { uid, gid })
                .map_err(RecordError::io(describe(USER, &Program::default())))?;
        } else {
            broker::check_root().map_err(RecordError::io("starting a program as root"))?;
        }
        Launch::prepare(&self, files)?.fork()
    }
}

impl Request for Plan {
    const NAME: &'static str = "hold";
    const CHECKS: &'static str = "it runs as the user who called sudo or one named with --user, never as root for them; the network of \
         another process is that of one of the subject's; files and folders are mounted, and laid over each other, with the caller's \
         rights, in a namespace of its own, whose programs gain no rights by their mode; worlds of root's as they were handed over; \
         descriptors for its streams come along";
    type Answer = Result<u32, Refusal>;

    fn carry_out(self, files: Vec<OwnedFd>) -> io::Result<Reply<Self::Answer>> {
        broker::reply(self.fork(files).map_err(Refusal::from))
    }
}

/// All that the child needs, in the form in which it needs it.
struct Launch {
    path: CString,
    arguments: Vec<CString>,
    environment: Vec<CString>,
    user: Option<User>,
    groups: Vec<libc::gid_t>,
    network: Network,
    /// The namespace of the process whose network it shares.
    namespace: Option<OwnedFd>,
    streams: Streams,
    surroundings: Surroundings,
    parent_death_signal: ParentDeathSignal,
    gate: OwnedFd,
    words: OwnedFd,
    parents: Option<[RawFd; 2]>,
}

impl Launch {
    fn prepare(plan: &Plan, files: Vec<OwnedFd>) -> Result<Launch, RecordError> {
        let mut files = files.into_iter();
        let mut next =
            || files.next().ok_or_else(|| RecordError::io("making a process")(io::Error::other("a file is missing")));
        let (gate, words) = (next()?, next()?);
        let streams = plan.redirected.map(|is_there| is_there.then(&mut next).transpose());
        let [input, output, errors] = streams;
        let texts = |words: &[OsString]| words.iter().map(|word| c_string(word)).collect::<Result<_, _>>();
        Ok(Launch {
            path: c_string(&plan.path)?,
            arguments: plan.arguments.iter().map(|word| c_string(OsStr::new(word))).collect::<Result<_, _>>()?,
            environment: texts(&plan.environment)?,
            user: plan.user,
            groups: plan.user.map(groups).unwrap_or_default(),
            network: plan.network,
            namespace: plan.network.namespace().map_err(RecordError::io(describe(NETWORK, &Program::default())))?,
            streams: Streams { files: [input?, output?, errors?], is_output_to_errors: plan.is_output_to_errors },
            surroundings: Surroundings::prepare(
                plan.root.as_ref(),
                &plan.mounts,
                &plan.processors,
                plan.folder.as_deref(),
            )?,
            parent_death_signal: plan.parent_death_signal,
            gate,
            words,
            parents: (!broker::is_broker()).then_some(plan.parents),
        })
    }

    /// The gaps between the descriptors that the child needs: what lies in them is the broker's, whose socket would seem to be open,
    /// and whose journal to be locked, for as long as the child waits.
    fn gaps(&self) -> Vec<(u32, u32)> {
        let files = self.streams.files.iter().flatten().chain([&self.gate, &self.words]).chain(&self.namespace);
        let mut kept = files.map(|file| file.as_raw_fd() as u32).filter(|file| *file > 2).collect::<Vec<_>>();
        kept.sort_unstable();
        let begins = [3].into_iter().chain(kept.iter().map(|file| file + 1));
        let ends = kept.iter().map(|file| file - 1).chain([u32::MAX]);
        begins.zip(ends).filter(|(begin, end)| begin <= end).collect()
    }

    /// Makes the child; returns in the parent only. A child that the broker makes is the command's: there it is waited for, and
    /// what it leaves behind is adopted.
    fn fork(&self) -> Result<u32, RecordError> {
        let arguments = pointers(&self.arguments);
        let environment = pointers(&self.environment);
        let gaps = if broker::is_broker() { self.gaps() } else { Vec::new() };
        let parent = broker::command_pid();
        let siblings = libc::CLONE_PARENT | libc::SIGCHLD;
        // SAFETY: the child calls nothing but `run`, which makes async-signal-safe calls only and never returns. The broker has
        // one thread, so that a clone without a new stack is a fork.
        let made = unsafe {
            if broker::is_broker() {
                libc::syscall(libc::SYS_clone, siblings, 0, 0, 0, 0)
            } else {
                libc::c_long::from(libc::fork())
            }
        };
        match made {
            0 => self.run(&arguments, &environment, &gaps, parent),
            pid if pid > 0 => Ok(pid as u32),
            _ => Err(RecordError::io("making a process")(io::Error::last_os_error())),
        }
    }

    fn run(
        &self,
        arguments: &[*const libc::c_char],
        environment: &[*const libc::c_char],
        gaps: &[(u32, u32)],
        parent: u32,
    ) -> ! {
        // SAFETY: all calls are async-signal-safe and take numbers or memory prepared before the fork.
        unsafe {
            for end in self.parents.iter().flatten() {
                libc::close(*end);
            }
            for (first, last) in gaps {
                // Linux 5.9; an older kernel closes them when the program is executed.
                libc::syscall(libc::SYS_close_range, *first, *last, 0);
            }
            self.enter_network();
            self.arrange_surroundings();
            self.arrange_streams();
            self.say(Word { step: READY, error: 0 });
            let mut byte = 0_u8;
            if libc::read(self.gate.as_raw_fd(), (&raw mut byte).cast(), 1) != 1 {
                libc::_exit(0);
            }
            self.become_user();
            if !self.surroundings.keep_rights() {
                self.fail(USER);
            }
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
        if let Some(namespace) = &self.namespace {
            // SAFETY: system calls with numbers.
            unsafe {
                if libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET) != 0 {
                    self.fail(NETWORK);
                }
                libc::close(namespace.as_raw_fd());
            }
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
        unsafe { libc::write(self.words.as_raw_fd(), bytes.as_ptr().cast(), bytes.len()) };
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
