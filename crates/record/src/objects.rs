//! BPF objects as the broker has them: loaded, attached, and kept until they are taken out again.

use crate::error::RecordError;
use crate::kernel::Recorder;
use crate::loaded::{Load, Maps, Refusal, SwitchRows, Unload, no_map};
use crate::{host, kernel, meter, services, socket_program};
use aya::Ebpf;
use aya::maps::Map;
use broker::{Reply, Request, reply};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, PoisonError};

/// What is loaded, by a number that is never given twice.
static LOADED: Mutex<(u64, BTreeMap<u64, Object>)> = Mutex::new((0, BTreeMap::new()));
/// As much is loaded at a time: a recorder or a meter, sums of services, and programs on the sockets of a few groups.
const MOST_LOADED: usize = 64;

/// What is loaded.
enum Object {
    Recorder(Box<Recorder>),
    Other(Ebpf),
}

impl Object {
    fn maps(&mut self) -> &mut Ebpf {
        match self {
            Object::Recorder(recorder) => &mut recorder.ebpf,
            Object::Other(ebpf) => ebpf,
        }
    }
}

impl Request for Load {
    const NAME: &'static str = "load";
    const CHECKS: &'static str =
        "four objects that are built in, none from outside; sockets of a group of this run only";
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
        Load::Recorder { sampling_hertz, counts_requests } => {
            let (recorder, missing) = kernel::load(*sampling_hertz, *counts_requests)?;
            (Object::Recorder(Box::new(recorder)), missing)
        }
        Load::Meter => (Object::Other(meter::load()?), Vec::new()),
        Load::Services { counts_calls } => (Object::Other(services::load(*counts_calls)?), Vec::new()),
        Load::Sockets { group, nodelay, cap_microseconds, looks_at_connects } => {
            broker::check_group(group).map_err(RecordError::io(format!("opening {}", group.display())))?;
            let object = socket_program::load(group, *nodelay, *cap_microseconds, *looks_at_connects)?;
            (Object::Other(object), Vec::new())
        }
    };
    let names = match wanted {
        Load::Recorder { .. } => kernel::MAPS.as_slice(),
        Load::Meter => meter::MAPS.as_slice(),
        Load::Services { .. } => services::MAPS.as_slice(),
        Load::Sockets { .. } => socket_program::MAPS.as_slice(),
    };
    let files = names.iter().map(|name| descriptor(object.maps(), name)).collect::<Result<_, RecordError>>()?;
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

impl Request for SwitchRows {
    const NAME: &'static str = "switch-rows";
    const CHECKS: &'static str = "only a recorder that was loaded here, by its number";
    type Answer = Result<(), Refusal>;

    fn carry_out(self, _: Vec<OwnedFd>) -> io::Result<Reply<Self::Answer>> {
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        match loaded.1.get_mut(&self.id) {
            Some(Object::Recorder(recorder)) => reply(recorder.switch_rows(self.makes_rows).map_err(Refusal::from)),
            _ => Err(io::Error::from_raw_os_error(libc::ENOENT)),
        }
    }
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
