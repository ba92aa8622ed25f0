//! The meter: CPU time and exchanges of the followed processes, summed up in the kernel. No events and no case: for
//! trials, which ask only how much, and often.
//!
//! Promises: sums do not fall between two readings without a [`Meter::clear`] (but see [`Reading`] on whose exchanges are
//! counted); what a process used stays counted when it has ended; everything goes with the [`Meter`]. While another tracer
//! is attached or removed, the kernel can pass over a switch: a stretch of CPU time is then lost or moved.

mod attach;
mod lengths;
mod mapped;
mod slots;

pub use lengths::Lengths;

use crate::clock::now;
use crate::error::RecordError;
use crate::host;
use crate::kernel::{attach, kernel_release};
use crate::loaded::{Load, Loaded, refused};
use crate::source::Role;
use aya::maps::{HashMap, Map, MapData};
use aya::util::nr_cpus;
use aya::{Btf, Ebpf, EbpfLoader};
use case::Nanos;
use lengths::Histograms;
use slots::{Slot, Slots};

/// Compiled by build.rs.
static OBJECT: &[u8] = aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/meter.bpf.o"));

/// Each program and the trace point it watches.
const PROGRAMS: [(&str, &str); 6] = [
    ("meter_switch", "sched_switch"),
    ("meter_fork", "sched_process_fork"),
    ("meter_exec", "sched_process_exec"),
    ("meter_state", "inet_sock_set_state"),
    ("meter_enter", "sys_enter"),
    ("meter_return", "sys_exit"),
];

/// Mirrors `struct followed` of `bpf/meter.h`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Followed {
    role: u16,
    mode: u16,
    returns: u16,
    pad: u16,
    socket: u64,
    inode: u64,
    entered: u64,
    lookup: u64,
    files: [[u64; 4]; 4],
}

/// Mirrors `struct exchanging` of `bpf/meter.h`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Exchanging {
    inode: u64,
    since: u64,
    set_up: u64,
    ready: u64,
    length: u64,
    side: u16,
    phase: u16,
    tls: u16,
    pad: u16,
}

/// Where a thread is while it runs its program.
const IN_USER: u16 = 0;
/// Where it is while it is held or waits in a system call.
const IN_KERNEL: u16 = 1;

/// Whose exchanges. Mirrors the sides of `bpf/meter.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionOrigin {
    /// On connections that a client's processes made.
    MadeByClient,
    /// On connections that a server's processes made.
    MadeByServer,
    /// On connections that were accepted.
    Accepted,
}

/// In the order of their numbers, the best first.
const ORIGINS: [ConnectionOrigin; 3] =
    [ConnectionOrigin::MadeByClient, ConnectionOrigin::MadeByServer, ConnectionOrigin::Accepted];

impl Role {
    /// Its number in `bpf/meter.h`.
    fn number(self) -> u16 {
        match self {
            Role::Client => 0,
            Role::Server => 1,
        }
    }
}

// SAFETY: plain integers without padding, for which all bytes are valid.
unsafe impl aya::Pod for Followed {}
// SAFETY: as above.
unsafe impl aya::Pod for Exchanging {}

/// The sums since the meter was loaded or cleared.
///
/// Exchanges are those on connections that a client's processes made; where there are none, those on connections that a
/// server's processes made; where there are none either, those on connections that were accepted. So they can fall once,
/// when the first exchange of a better kind comes; [`Meter::tell`] asks for one kind. TCP and Unix stream sockets count; connections to name servers do not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// When it was taken.
    pub time: Nanos,
    /// Whose exchanges; none before the first one was counted.
    pub origin: Option<ConnectionOrigin>,
    /// Requests that were answered.
    pub exchanges: u64,
    /// From a request's first byte written to its answer's last byte read (so far), or to the end of the stream where a
    /// read waited for that, summed over exchanges. Looking up a
    /// name, connecting and the TLS handshake belong to the first exchange of a connection that was made, unless it was
    /// made ahead of time.
    pub exchange_wall: Nanos,
    /// CPU time of the client's processes in user mode.
    pub client_user: Nanos,
    /// CPU time of the client's processes in system calls.
    pub client_system: Nanos,
    /// CPU time of the server's processes in user mode.
    pub server_user: Nanos,
    /// CPU time of the server's processes in system calls.
    pub server_system: Nanos,
    /// Threads that could not be followed, as there was no room: their time and exchanges are missing.
    pub unfollowed: u64,
    /// Bytes of the answers, as far as they have come; what TLS exchanges before the first request is left out.
    pub answered_bytes: u64,
    /// Answers that began with a status line of HTTP/1, by the first digit of the status, from 1 to 5. Of answers that one
    /// call reads together only the first is seen.
    pub statuses: [u64; 5],
    /// Handshakes that were broken off: TLS alerts in the clear.
    pub alerts: u64,
    /// Calls on TCP and Unix stream sockets that found the connection reset, aborted or refused.
    pub resets: u64,
}

/// The meter in the kernel.
pub struct Meter {
    slots: Slots,
    threads: HashMap<MapData, u32, Followed>,
    sockets: HashMap<MapData, u64, Exchanging>,
    adopted: HashMap<MapData, u64, u32>,
    histograms: Histograms,
    /// The side that was asked for.
    side: Option<ConnectionOrigin>,
    /// The sums when it was last cleared.
    before: Slot,
    lengths_before: Lengths,
    /// Keeps the programs attached.
    _programs: Loaded,
}

/// The maps that its user reads and fills.
pub(crate) const MAPS: [&str; 5] = ["slots", "lengths", "threads", "sockets", "adopted"];

/// Loads and attaches its programs: as root.
pub(crate) fn load() -> Result<Ebpf, RecordError> {
    let btf = Btf::from_sys_fs().map_err(|_| RecordError::NoBtf { release: kernel_release() })?;
    let processors = processors()?;
    let mut programs = EbpfLoader::new()
        .btf(Some(&btf))
        .map_max_entries("slots", processors as u32)
        .map_max_entries("lengths", processors as u32)
        .load(OBJECT)
        .map_err(|error| refused("meter", &error))?;
    for (name, trace_point) in PROGRAMS {
        attach(&mut programs, name, trace_point, &btf)?;
    }
    Ok(programs)
}

fn processors() -> Result<usize, RecordError> {
    nr_cpus().map_err(|(what, source)| RecordError::Io { action: what.to_string(), source })
}

impl Meter {
    /// Loads and attaches it. Nothing is followed yet.
    ///
    /// # Errors
    /// Where privileges or kernel features are missing.
    pub fn load() -> Result<Meter, RecordError> {
        host::may_record()?;
        let processors = processors()?;
        let mut loaded = Loaded::load(Load::Meter)?;
        let histograms = Histograms::map(Map::Array(loaded.take("lengths")?), processors)?;
        let mut table = |name| Ok::<_, RecordError>(Map::HashMap(loaded.take(name)?));
        let (threads, sockets, adopted) = (table("threads")?, table("sockets")?, table("adopted")?);
        Ok(Meter {
            slots: Slots::map(Map::Array(loaded.take("slots")?), processors)?,
            threads: HashMap::try_from(threads).map_err(|error| refused("threads", &error))?,
            sockets: HashMap::try_from(sockets).map_err(|error| refused("sockets", &error))?,
            adopted: HashMap::try_from(adopted).map_err(|error| refused("adopted", &error))?,
            lengths_before: histograms.sum(0),
            histograms,
            side: None,
            before: Slot::default(),
            _programs: loaded,
        })
    }

    /// Follows a process that is held before its program, and all its children to be.
    ///
    /// # Errors
    /// Where the table of followed threads is full.
    pub fn follow(&mut self, pid: u32, role: Role) -> Result<(), RecordError> {
        let state = Followed { role: role.number(), mode: IN_KERNEL, ..Followed::default() };
        self.threads.insert(pid, state, 0).map_err(|error| refused("threads", &error))
    }

    /// The sums so far, the running threads' time until now included. Takes about a tenth of a microsecond.
    pub fn read(&self) -> Reading {
        // Before the sums are: so that what is added for running threads is never more than the next reading finds.
        let time = now();
        let sum = self.slots.sum(time).since(&self.before);
        let side = self.side_of(&sum);
        let [[client_user, client_system], [server_user, server_system]] = sum.cpu.map(|modes| modes.map(Nanos));
        Reading {
            time,
            origin: ORIGINS.get(side).copied().filter(|_| sum.exchanges[side] > 0),
            exchanges: sum.exchanges[side],
            exchange_wall: Nanos(sum.wall[side]),
            client_user,
            client_system,
            server_user,
            server_system,
            unfollowed: sum.unfollowed,
            answered_bytes: sum.moved[side],
            statuses: sum.statuses[side],
            alerts: sum.alerts,
            resets: sum.resets,
        }
    }

    /// How long exchanges were since the meter was loaded or cleared. Takes some microseconds a processor: to be asked
    /// where a window begins and ends. Between it and a [`Meter::read`] an exchange can come.
    pub fn lengths(&self) -> Lengths {
        let side = self.side_of(&self.slots.sum(now()).since(&self.before));
        self.histograms.sum(side).since(&self.lengths_before)
    }

    /// Tells of the exchanges of one side only from now on, or with none of the best that there is.
    pub fn tell(&mut self, side: Option<ConnectionOrigin>) {
        self.side = side;
    }

    fn side_of(&self, sum: &Slot) -> usize {
        let best = || (0..sum.exchanges.len()).find(|side| sum.exchanges[*side] > 0).unwrap_or(0);
        self.side.map_or_else(best, |side| side as usize)
    }

    /// Forgets threads, sockets and sums: before the next trial, when the last one's processes have ended. Those that
    /// have not are no longer followed once they leave the processor.
    pub fn clear(&mut self) {
        for thread in self.threads.keys().flatten().collect::<Vec<_>>() {
            // One that ended meanwhile is gone from the table already.
            let _ = self.threads.remove(&thread);
        }
        for socket in self.sockets.keys().flatten().collect::<Vec<_>>() {
            // As above: the kernel side puts out the oldest.
            let _ = self.sockets.remove(&socket);
        }
        for socket in self.adopted.keys().flatten().collect::<Vec<_>>() {
            let _ = self.adopted.remove(&socket);
        }
        self.before = self.slots.sum(now());
        self.lengths_before = self.histograms.sum(0);
    }
}

#[cfg(test)]
mod tests;
