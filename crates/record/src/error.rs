//! Why a recording cannot begin or go on.

use case::CaseError;
use std::path::PathBuf;

/// What went wrong, in terms a user can act on. The binary adds the command to try.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// Recording needs capabilities that this process lacks.
    #[error("recording needs the capabilities {}, which user {uid} does not have", missing.replace(',', ", "))]
    NotPrivileged {
        /// Names of the capabilities that are missing, separated by commas.
        missing: String,
        /// The effective user.
        uid: u32,
    },
    /// The kernel has no BTF, without which BPF programs cannot be loaded.
    #[error("this kernel ({release}) has no BTF type information (/sys/kernel/btf/vmlinux)")]
    NoBtf {
        /// The kernel's release.
        release: String,
    },
    /// The kernel refused a BPF program or map.
    #[error("the kernel refused the BPF program {program}: {reason}")]
    Refused {
        /// The program or map.
        program: String,
        /// What the kernel said.
        reason: String,
    },
    /// No program of that name is on the search path.
    #[error("command not found: {0}")]
    NotFound(String),
    /// The file is there and cannot be executed.
    #[error("not executable: {path}: {reason}")]
    NotExecutable {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A syscall of our own failed.
    #[error("{action}: {source}")]
    Io {
        /// What was being done.
        action: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// There is no such process, or it is a zombie.
    #[error("there is no running process {0}")]
    NoProcess(u32),
    /// More services than can be watched at one time.
    #[error("{given} services were named, and {most} can be watched at one time")]
    TooManyServices {
        /// How many were named.
        given: usize,
        /// How many there can be.
        most: usize,
    },
    /// It has no program: it is part of the kernel.
    #[error("process {0} is a kernel thread")]
    KernelThread(u32),
    /// It is whyslow, or something that whyslow runs in: whyslow would record its own recording.
    #[error("process {0} is whyslow itself, or whyslow runs inside it")]
    Ourselves(u32),
    /// Process ids here are not those that the kernel reports events by.
    #[error(
        "whyslow runs in a PID namespace of its own, a container's say: by its process ids it would watch other processes"
    )]
    OtherPidNamespace,
    /// We may not inspect it.
    #[error("process {pid} cannot be inspected: {reason}")]
    NotPermitted {
        /// The process.
        pid: u32,
        /// What the system said.
        reason: String,
    },
    /// The case could not be written.
    #[error(transparent)]
    Case(#[from] CaseError),
}

impl RecordError {
    /// Attaches what was being done to an I/O error.
    pub fn io(action: impl Into<String>) -> impl FnOnce(std::io::Error) -> RecordError {
        let action = action.into();
        move |source| RecordError::Io { action, source }
    }
}
