//! What the kernel tells of a subject's process to root alone: where the process is another user's, or holds its program back.
//! Files are opened and handed over, not read.

use crate::request::{Reply, Request, reply, with_files};
use crate::watched::check_subject;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;

/// A link that the kernel makes up for a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Place {
    /// The file of its program.
    Executable,
    /// Its network namespace.
    Network,
}

/// Asks where a link of a process leads, or for all that its descriptors stand for.
#[derive(Serialize, Deserialize)]
pub struct Look {
    /// The process.
    pub pid: u32,
    /// The link; none for the descriptors.
    pub place: Option<Place>,
}

/// Descriptors and where they lead; a link alone has the number 0.
pub type Looked = Vec<(i32, OsString)>;

impl Request for Look {
    const NAME: &'static str = "look";
    const CHECKS: &'static str = "the process is the subject's; three links of /proc, no path of anybody's";
    type Answer = Looked;

    fn carry_out(self, _: Vec<OwnedFd>) -> io::Result<Reply<Looked>> {
        check_subject(self.pid)?;
        let name = match self.place {
            Some(Place::Executable) => "exe",
            Some(Place::Network) => "ns/net",
            None => return reply(descriptors(self.pid)?),
        };
        reply(vec![(0, fs::read_link(format!("/proc/{}/{name}", self.pid))?.into_os_string())])
    }
}

fn descriptors(pid: u32) -> io::Result<Looked> {
    let entries = fs::read_dir(format!("/proc/{pid}/fd"))?;
    let named = entries.filter_map(|entry| {
        let entry = entry.ok()?;
        let number = entry.file_name().to_str()?.parse().ok()?;
        Some((number, fs::read_link(entry.path()).ok()?.into_os_string()))
    });
    Ok(named.collect())
}

/// Asks for a file that the kernel shows of a process.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub enum OpenOf {
    /// Its mappings.
    Mappings {
        /// The process.
        pid: u32,
    },
    /// The file behind one of its mappings.
    Mapped {
        /// The process.
        pid: u32,
        /// Where the mapping begins.
        start: u64,
        /// Where it ends.
        end: u64,
    },
    /// The tree of files that it sees, to look into with one's own rights.
    Root {
        /// The process.
        pid: u32,
    },
    /// Its mount namespace, to tell it from others.
    Mounts {
        /// The process.
        pid: u32,
    },
    /// What a thread of its waits in.
    Call {
        /// The process.
        pid: u32,
        /// The thread.
        tid: u32,
    },
}

impl Request for OpenOf {
    const NAME: &'static str = "open-of";
    const CHECKS: &'static str =
        "the process is the subject's; five files of /proc, for reading; a mapped file only where it is a regular one";
    type Answer = ();

    fn carry_out(self, _: Vec<OwnedFd>) -> io::Result<Reply<()>> {
        let (pid, name, flags) = match self {
            OpenOf::Mappings { pid } => (pid, "maps".to_string(), 0),
            OpenOf::Mapped { pid, start, end } => {
                (pid, format!("map_files/{start:x}-{end:x}"), libc::O_NONBLOCK | libc::O_NOCTTY)
            }
            OpenOf::Root { pid } => (pid, "root".to_string(), libc::O_PATH | libc::O_DIRECTORY),
            OpenOf::Mounts { pid } => (pid, "ns/mnt".to_string(), 0),
            OpenOf::Call { pid, tid } => (pid, format!("task/{tid}/syscall"), 0),
        };
        check_subject(pid)?;
        let file = OpenOptions::new().read(true).custom_flags(flags).open(format!("/proc/{pid}/{name}"))?;
        if matches!(self, OpenOf::Mapped { .. }) && !file.metadata()?.is_file() {
            return Err(io::Error::from_raw_os_error(libc::EPERM));
        }
        with_files((), vec![file.into()])
    }
}

/// Asks for the memory of a process, for reading.
#[derive(Serialize, Deserialize)]
pub struct OpenMemory {
    /// The process.
    pub pid: u32,
}

impl Request for OpenMemory {
    const NAME: &'static str = "open-memory";
    const CHECKS: &'static str = "the process is the subject's; for reading only, and of the program that it runs now";
    type Answer = ();

    fn carry_out(self, _: Vec<OwnedFd>) -> io::Result<Reply<()>> {
        check_subject(self.pid)?;
        with_files((), vec![File::open(format!("/proc/{}/mem", self.pid))?.into()])
    }
}

/// Asks for the kernel's own symbols with their addresses, which are shown to whoever opened the file.
#[derive(Serialize, Deserialize)]
pub struct OpenKernelSymbols;

impl Request for OpenKernelSymbols {
    const NAME: &'static str = "open-kernel-symbols";
    const CHECKS: &'static str = "nothing is chosen: /proc/kallsyms, for reading";
    type Answer = ();

    fn carry_out(self, _: Vec<OwnedFd>) -> io::Result<Reply<()>> {
        with_files((), vec![File::open("/proc/kallsyms")?.into()])
    }
}
