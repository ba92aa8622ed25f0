//! Options of TCP connections, set from outside at the moment when they are established: on every connection that a
//! process of a control group makes or accepts, whatever language it is written in. And addresses that are made
//! unreachable for it, or in whose place it reaches another one.
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
use aya::maps::{HashMap, Map, MapData, PerCpuArray};
use aya::programs::{CgroupAttachMode, CgroupSockAddr, CgroupSockopt, Program, ProgramError, SockOps};
use aya::{Ebpf, EbpfLoader};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::time::Duration;

/// Compiled by build.rs.
static OBJECT: &[u8] = aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/socket_options.bpf.o"));

/// What is done to TCP sockets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SocketOptions {
    /// Sets TCP_NODELAY when a connection is established, and keeps programs from clearing it.
    pub nodelay: bool,
    /// The longest that an acknowledgement is delayed.
    ///
    /// The kernel takes a cap from two of its clock ticks (8 ms at 250 a second, 2 ms at 1000) to 200 ms, in whole
    /// ticks, rounded up; it refuses others, which is counted. An acknowledgement that is held back leaves up to one tick
    /// after the cap: measured on write-write-read at 250 ticks a second, caps of 8, 12, 16, 20 and 30 ms give 12.0, 16.0,
    /// 20.0, 24.0 and 36.0 ms, from 40 ms upwards 44.0 ms as without, since the kernel's own first delay is 40 ms.
    pub delayed_ack_cap: Option<Duration>,
    /// Where connects fail at once: network unreachable. At most [`MOST_UNREACHABLE`] count.
    pub unreachable: BTreeSet<SocketAddr>,
    /// Where connects go that are for another address: of the same family. At most [`MOST_UNREACHABLE`] count.
    pub redirected: BTreeMap<SocketAddr, SocketAddr>,
}

/// As many addresses can be made unreachable, or stood in for: the size of the kernel's tables.
pub const MOST_UNREACHABLE: usize = 64;

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
    /// Connects that failed because their address was made unreachable.
    pub unreachable: u64,
    /// Attempts to clear TCP_NODELAY that did nothing.
    pub kept: u64,
    /// Connects that went to another address.
    pub redirected: u64,
}

/// The program on the connections of a group.
pub struct SocketProgram {
    counts: PerCpuArray<MapData, u64>,
    /// Keeps it attached.
    _program: Loaded,
}

/// The maps that its user reads and fills.
pub(crate) const MAPS: [&str; 3] = ["counts", "unreachable", "redirected"];

/// Loads the programs and attaches them to a group's folder: as root. What connects and options go through is attached where it is
/// asked for.
pub(crate) fn load(
    group: &Path,
    nodelay: bool,
    cap_microseconds: u32,
    looks_at_connects: bool,
) -> Result<Ebpf, RecordError> {
    let folder = File::open(group).map_err(RecordError::io(format!("opening {}", group.display())))?;
    let keeps_nodelay = nodelay;
    let nodelay = u32::from(nodelay);
    let mut object = EbpfLoader::new()
        .override_global("nodelay", &nodelay, true)
        .override_global("delayed_ack_cap_us", &cap_microseconds, true)
        .load(OBJECT)
        .map_err(|error| refused("on_socket", &error))?;
    // Links, whose mode is not ours to choose: others' programs on the group, or above it, always go on working.
    let mode = CgroupAttachMode::Single;
    let program: &mut SockOps = of_kind(&mut object, "on_socket")?;
    program.load().and_then(|()| program.attach(&folder, mode)).map_err(|error| refused("on_socket", &error))?;
    if keeps_nodelay {
        let program: &mut CgroupSockopt = of_kind(&mut object, "on_option")?;
        program.load().and_then(|()| program.attach(&folder, mode)).map_err(|error| refused("on_option", &error))?;
    }
    for name in ["on_connect4", "on_connect6"].into_iter().filter(|_| looks_at_connects) {
        let program: &mut CgroupSockAddr = of_kind(&mut object, name)?;
        program.load().and_then(|()| program.attach(&folder, mode)).map_err(|error| refused(name, &error))?;
    }
    Ok(object)
}

/// A program of the object, of its kind.
fn of_kind<'o, P>(object: &'o mut Ebpf, name: &str) -> Result<&'o mut P, RecordError>
where
    &'o mut P: TryFrom<&'o mut Program, Error = ProgramError>,
{
    let program = object.program_mut(name).ok_or_else(|| no_map(name))?;
    program.try_into().map_err(|error| refused(name, &error))
}

/// How the kernel's table has an address: that of IPv4 as IPv6 maps it, in the network's order, and the port.
fn key(address: &SocketAddr) -> [u32; 5] {
    let ip = match address.ip() {
        IpAddr::V4(four) => four.to_ipv6_mapped(),
        IpAddr::V6(six) => six,
    };
    let octets = ip.octets();
    let word = |at: usize| u32::from_ne_bytes([octets[at], octets[at + 1], octets[at + 2], octets[at + 3]]);
    [word(0), word(4), word(8), word(12), u32::from(address.port().to_be())]
}

impl SocketProgram {
    /// Attaches it to a folder of control group v2, with the groups below. Where nothing is asked for, it only counts.
    ///
    /// # Errors
    /// Where the folder is no control group, or privileges or kernel features are missing.
    pub fn attach(group: &Path, options: &SocketOptions) -> Result<SocketProgram, RecordError> {
        host::may_record()?;
        // A cap below a microsecond is none that the kernel takes, but it was asked for.
        let microseconds = |cap: Duration| u32::try_from(cap.as_micros()).unwrap_or(u32::MAX).max(1);
        let mut loaded = Loaded::load(Load::Sockets {
            group: group.to_path_buf(),
            nodelay: options.nodelay,
            cap_microseconds: options.delayed_ack_cap.map_or(0, microseconds),
            looks_at_connects: !options.unreachable.is_empty() || !options.redirected.is_empty(),
        })?;
        let counts = PerCpuArray::try_from(Map::PerCpuArray(loaded.take("counts")?));
        let counts = counts.map_err(|error| refused("counts", &error))?;
        let unreachable = HashMap::<MapData, [u32; 5], u32>::try_from(Map::HashMap(loaded.take("unreachable")?));
        let mut unreachable = unreachable.map_err(|error| refused("unreachable", &error))?;
        for address in options.unreachable.iter().take(MOST_UNREACHABLE) {
            unreachable.insert(key(address), 1, 0).map_err(|error| refused("unreachable", &error))?;
        }
        let redirected = HashMap::<MapData, [u32; 5], [u32; 5]>::try_from(Map::HashMap(loaded.take("redirected")?));
        let mut redirected = redirected.map_err(|error| refused("redirected", &error))?;
        for (address, instead) in options.redirected.iter().take(MOST_UNREACHABLE) {
            redirected.insert(key(address), key(instead), 0).map_err(|error| refused("redirected", &error))?;
        }
        Ok(SocketProgram { counts, _program: loaded })
    }

    /// What it has done so far.
    pub fn counts(&self) -> SocketCounts {
        let [seen, nodelay, capped, refused, unreachable, kept, redirected] =
            [0, 1, 2, 3, 4, 5, 6].map(|what| self.counts.get(&what, 0).map_or(0, |processors| processors.iter().sum()));
        SocketCounts { seen, nodelay, capped, refused, unreachable, kept, redirected }
    }
}

#[cfg(test)]
mod tests;
