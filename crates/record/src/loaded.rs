//! BPF objects: the broker loads, attaches and keeps them; their maps are handed over, which whoever holds them may read, fill and
//! map whatever the kernel otherwise forbids users (Linux 5.19, `kernel.unprivileged_bpf_disabled`).

use crate::error::RecordError;
use crate::host;
use crate::kernel::{self, no_map, refused};
use crate::{meter, socket_program};
use aya::Ebpf;
use aya::maps::{Map, MapData};
use broker::{Reply, Request, ask, reply};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// What is loaded, by a number that is never given twice.
static LOADED: Mutex<(u64, BTreeMap<u64, Ebpf>)> = Mutex::new((0, BTreeMap::new()));
/// As much is loaded at a time: a recorder or a meter, and programs on the sockets of a few groups.
const MOST_LOADED: usize = 64;

/// What is to be loaded.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Load {
    /// The recorder.
    Recorder {
        /// CPU samples a second; 0 for none.
        sampling_hertz: u32,
    },
    /// The meter.
    Meter,
    /// The program on a group's sockets.
    Sockets {
        /// The group's folder.
        group: PathBuf,
        /// Whether TCP_NODELAY is set.
        nodelay: bool,
        /// The cap on delayed acknowledgements; 0 for none.
        cap_microseconds: u32,
    },
}

/// What was loaded.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Maps {
    id: u64,
    names: Vec<String>,
    missing: Vec<String>,
}

/// Why nothing was; the parts of a [`RecordError`] that can be the cause.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Refusal {
    NotPrivileged { missing: String, uid: u32 },
    NoBtf { release: String },
    Refused { program: String, reason: String },
    Io { action: String, number: Option<i32>, text: String },
}

impl Request for Load {
    const NAME: &'static str = "load";
    const CHECKS: &'static str =
        "three objects that are built in, none from outside; sockets of a group of this run only";
    type Answer = Result<Maps, Refusal>;

    fn carry_out(self, _: Vec<OwnedFd>) -> io::Result<Reply<Self::Answer>> {
        match load(&self) {
            Ok((maps, files)) => Ok(Reply { answer: Ok(maps), files }),
            Err(error) => reply(Err(error.into())),
        }
    }
}

fn load(wanted: &Load) -> Result<(Maps, Vec<OwnedFd>), RecordError> {
    host::has_what_recording_needs()?;
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if loaded.1.len() >= MOST_LOADED {
        return Err(RecordError::io("loading a BPF object")(io::Error::from_raw_os_error(libc::ENOSPC)));
    }
    let (mut object, missing) = match wanted {
        Load::Recorder { sampling_hertz } => kernel::load(*sampling_hertz)?,
        Load::Meter => (meter::load()?, Vec::new()),
        Load::Sockets { group, nodelay, cap_microseconds } => {
            broker::check_group(group).map_err(RecordError::io(format!("opening {}", group.display())))?;
            (socket_program::load(group, *nodelay, *cap_microseconds)?, Vec::new())
        }
    };
    let names = match wanted {
        Load::Recorder { .. } => kernel::MAPS.as_slice(),
        Load::Meter => meter::MAPS.as_slice(),
        Load::Sockets { .. } => socket_program::MAPS.as_slice(),
    };
    let files = names.iter().map(|name| descriptor(&mut object, name)).collect::<Result<_, RecordError>>()?;
    loaded.0 += 1;
    let id = loaded.0;
    loaded.1.insert(id, object);
    Ok((Maps { id, names: names.iter().map(ToString::to_string).collect(), missing }, files))
}

fn descriptor(object: &mut Ebpf, name: &str) -> Result<OwnedFd, RecordError> {
    let Some(
        Map::Array(data) | Map::HashMap(data) | Map::LruHashMap(data) | Map::PerCpuArray(data) | Map::RingBuf(data),
    ) = object.map(name)
    else {
        return Err(no_map(name));
    };
    data.fd().as_fd().try_clone_to_owned().map_err(RecordError::io(format!("handing over {name}")))
}

/// Asks for what was loaded to be taken out of the kernel.
#[derive(Serialize, Deserialize)]
pub(crate) struct Unload {
    id: u64,
}

impl Request for Unload {
    const NAME: &'static str = "unload";
    const CHECKS: &'static str = "only what was loaded here, by its number";
    type Answer = ();

    fn carry_out(self, _: Vec<OwnedFd>) -> io::Result<Reply<()>> {
        let object = LOADED.lock().unwrap_or_else(PoisonError::into_inner).1.remove(&self.id);
        drop(object);
        reply(())
    }
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
