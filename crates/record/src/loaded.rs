//! BPF objects as the command has them: their maps, which whoever holds them may read, fill and map whatever the kernel otherwise
//! forbids users (Linux 5.19, `kernel.unprivileged_bpf_disabled`). `objects.rs` is the broker's side.

use crate::error::RecordError;
use aya::maps::MapData;
use broker::{Reply, ask};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

/// What is to be loaded.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Load {
    /// The recorder.
    Recorder {
        /// CPU samples a second; 0 for none.
        sampling_hertz: u32,
        /// Whether requests are counted where no rows are made.
        counts_requests: bool,
    },
    /// The meter.
    Meter,
    /// The sums of what services serve.
    Services {
        /// Whether system calls are counted.
        counts_calls: bool,
    },
    /// The program on a group's sockets.
    Sockets {
        /// The group's folder.
        group: PathBuf,
        /// Whether TCP_NODELAY is set.
        nodelay: bool,
        /// The cap on delayed acknowledgements; 0 for none.
        cap_microseconds: u32,
        /// Whether connects go through it, some of which it lets fail.
        looks_at_connects: bool,
    },
}

/// What was loaded.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Maps {
    pub id: u64,
    pub names: Vec<String>,
    pub missing: Vec<String>,
}

/// Why nothing was; the parts of a [`RecordError`] that can be the cause.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Refusal {
    NotPrivileged { missing: String, uid: u32 },
    NoBtf { release: String },
    Refused { program: String, reason: String },
    Io { action: String, number: Option<i32>, text: String },
}

/// Asks for what makes rows in a loaded recorder to be attached, or taken off.
#[derive(Serialize, Deserialize)]
pub(crate) struct SwitchRows {
    pub id: u64,
    pub makes_rows: bool,
}

/// Asks for what was loaded to be taken out of the kernel.
#[derive(Serialize, Deserialize)]
pub(crate) struct Unload {
    pub id: u64,
}

/// A loaded object as its user has it: its maps. Dropped, it is taken out of the kernel; maps that were taken stay.
pub(crate) struct Loaded {
    id: u64,
    maps: BTreeMap<String, OwnedFd>,
    /// What could not be attached, and why: one sentence each.
    pub missing: Vec<String>,
}

impl Loaded {
    /// Has it loaded.
    ///
    /// # Errors
    /// Where privileges or kernel features are missing.
    pub fn load(wanted: Load) -> Result<Loaded, RecordError> {
        let Reply { answer, files } = ask(wanted, &[]).map_err(RecordError::io("loading a BPF object"))?;
        let Maps { id, names, missing } = answer.map_err(RecordError::from)?;
        Ok(Loaded { id, maps: names.into_iter().zip(files).collect(), missing })
    }

    /// The number that it has where it is loaded.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// One of its maps; each can be taken once.
    pub fn take(&mut self, name: &str) -> Result<MapData, RecordError> {
        let descriptor = self.maps.remove(name).ok_or_else(|| no_map(name))?;
        MapData::from_fd(descriptor).map_err(|error| refused(name, &error))
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        // Where the broker is gone, so are its programs.
        let _ = ask(Unload { id: self.id }, &[]);
    }
}

impl From<RecordError> for Refusal {
    fn from(error: RecordError) -> Refusal {
        match error {
            RecordError::NotPrivileged { missing, uid } => Refusal::NotPrivileged { missing, uid },
            RecordError::NoBtf { release } => Refusal::NoBtf { release },
            RecordError::Refused { program, reason } => Refusal::Refused { program, reason },
            RecordError::Io { action, source } => {
                Refusal::Io { action, number: source.raw_os_error(), text: source.to_string() }
            }
            other => Refusal::Io { action: "as root".to_string(), number: None, text: other.to_string() },
        }
    }
}

impl From<Refusal> for RecordError {
    fn from(refusal: Refusal) -> RecordError {
        match refusal {
            Refusal::NotPrivileged { missing, uid } => RecordError::NotPrivileged { missing, uid },
            Refusal::NoBtf { release } => RecordError::NoBtf { release },
            Refusal::Refused { program, reason } => RecordError::Refused { program, reason },
            Refusal::Io { action, number, text } => {
                let source = number.map_or_else(|| io::Error::other(text), io::Error::from_raw_os_error);
                RecordError::Io { action, source }
            }
        }
    }
}

pub(crate) fn no_map(name: &str) -> RecordError {
    RecordError::Refused { program: name.to_string(), reason: "it is not in the object".to_string() }
}

/// What the kernel said, with all that was behind it.
pub(crate) fn refused(program: &str, error: &dyn std::error::Error) -> RecordError {
    let mut reason = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        reason = format!("{reason}: {cause}");
        source = cause.source();
    }
    RecordError::Refused { program: program.to_string(), reason }
}
