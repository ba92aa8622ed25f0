//! Options of TCP connections, set from outside at the moment when they are established: on every connection that a
//! process of a control group makes or accepts, whatever language it is written in.
//!
//! Promises: the subject's processes and its other connections are not touched; it vanishes with the
//! [`SocketProgram`], and with us however we end, since nothing but our descriptor holds it. Connections on which
//! options were set keep them.
//!
//! A socket belongs to the group that its process was in when it was made; a connection that is accepted belongs to the
//! group of the listener. So processes have to be in the group before they make their sockets, but listeners that are
//! older than the program do no harm.

use crate::error::RecordError;
use crate::host;
use crate::loaded::{Load, Loaded, no_map, refused};
use aya::maps::{Map, MapData, PerCpuArray};
use aya::programs::{CgroupAttachMode, SockOps};
use aya::{Ebpf, EbpfLoader};
use std::fs::File;
use std::path::Path;
use std::time::Duration;

/// Compiled by build.rs.
static OBJECT: &[u8] = aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/socket_options.bpf.o"));

/// What was done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SocketCounts {
    /// Ends of connections that were seen to be established: a connection within the group counts twice.
    pub seen: u64,
    /// Those on which TCP_NODELAY was set.
    pub nodelay: u64,
    /// Those on which the delay of acknowledgements was capped.
    pub capped: u64,
    /// Options that the kernel refused.
    pub refused: u64,
}

/// The program on the connections of a group.
pub struct SocketProgram {
    counts: PerCpuArray<MapData, u64>,
    /// Keeps it attached.
    _program: Loaded,
}

/// The map that its user reads.
pub(crate) const MAPS: [&str; 1] = ["counts"];

/// Loads the program and attaches it to a group's folder: as root.
pub(crate) fn load(group: &Path, nodelay: bool, cap_microseconds: u32) -> Result<Ebpf, RecordError> {
    let folder = File::open(group).map_err(RecordError::io(format!("opening {}", group.display())))?;
    let name = "on_socket";
    let nodelay = u32::from(nodelay);
    let mut object = EbpfLoader::new()
        .override_global("nodelay", &nodelay, true)
        .override_global("delayed_ack_cap_us", &cap_microseconds, true)
        .load(OBJECT)
        .map_err(|error| refused(name, &error))?;
    let program = object.program_mut(name).ok_or_else(|| no_map(name))?;
    let program: &mut SockOps = program.try_into().map_err(|error| refused(name, &error))?;
    program.load().map_err(|error| refused(name, &error))?;
    // A link, whose mode is not ours to choose: others' programs on the group, or above it, always go on working.
    program.attach(folder, CgroupAttachMode::Single).map_err(|error| refused(name, &error))?;
    Ok(object)
}

impl SocketProgram {
    /// Attaches it to a folder of control group v2, with the groups below. It sets TCP_NODELAY where `nodelay` is asked
    /// for, and caps the delay of acknowledgements where there is a cap; else it only counts.
    ///
    /// The kernel takes a cap from two of its clock ticks (8 ms at 250 a second, 2 ms at 1000) to 200 ms, in whole
    /// ticks, rounded up; it refuses others, which is counted. An acknowledgement that is held back leaves up to one tick
    /// after the cap: measured on write-write-read at 250 ticks a second, caps of 8, 12, 16, 20 and 30 ms give 12.0, 16.0,
    /// 20.0, 24.0 and 36.0 ms, from 40 ms upwards 44.0 ms as without, since the kernel's own first delay is 40 ms.
    ///
    /// # Errors
    /// Where the folder is no control group, or privileges or kernel features are missing.
    pub fn attach(
        group: &Path,
        nodelay: bool,
        delayed_ack_cap: Option<Duration>,
    ) -> Result<SocketProgram, RecordError> {
        host::may_record()?;
        // A cap below a microsecond is none that the kernel takes, but it was asked for.
        let cap = delayed_ack_cap.map_or(0, |cap| u32::try_from(cap.as_micros()).unwrap_or(u32::MAX).max(1));
        let wanted = Load::Sockets { group: group.to_path_buf(), nodelay, cap_microseconds: cap };
        let mut loaded = Loaded::load(wanted)?;
        let counts = PerCpuArray::try_from(Map::PerCpuArray(loaded.take("counts")?));
        Ok(SocketProgram { counts: counts.map_err(|error| refused("counts", &error))?, _program: loaded })
    }

    /// What it has done so far.
    pub fn counts(&self) -> SocketCounts {
        let [seen, nodelay, capped, refused] =
            [0, 1, 2, 3].map(|what| self.counts.get(&what, 0).map_or(0, |processors| processors.iter().sum()));
        SocketCounts { seen, nodelay, capped, refused }
    }
}

#[cfg(test)]
mod tests;
