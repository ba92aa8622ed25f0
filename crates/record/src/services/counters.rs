//! The kernel's sums of what services serve, as their reader has them.

use crate::error::RecordError;
use crate::host;
use crate::kernel::{attach, kernel_release};
use crate::loaded::{Load, Loaded, refused};
use aya::maps::{HashMap, Map, MapData, PerCpuArray};
use aya::{Btf, Ebpf, EbpfLoader};
use case::{Nanos, ServiceSample};
use std::collections::BTreeMap;

/// Compiled by build.rs.
static OBJECT: &[u8] = aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/services.bpf.o"));

/// `MOST_SERVICES` of `bpf/services.bpf.c`.
pub const MOST: usize = 256;

/// Each program and the trace point that it watches.
const PROGRAMS: [(&str, &str); 6] = [
    ("service_received", "sock_recv_length"),
    ("service_sent", "sock_send_length"),
    ("service_state", "inet_sock_set_state"),
    ("service_retransmitted", "tcp_retransmit_skb"),
    ("service_forked", "sched_process_fork"),
    ("service_exited", "sched_process_exit"),
];
/// The one that counts system calls.
const CALLS: (&str, &str) = ("service_called", "sys_enter");

/// The maps that are read and filled from outside.
pub(crate) const MAPS: [&str; 2] = ["served", "members"];

/// Mirrors `struct served` of `bpf/services.bpf.c`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Served {
    requests: u64,
    connections: u64,
    received: u64,
    sent: u64,
    answering: u64,
    failures: u64,
    retransmitted: u64,
    calls: u64,
}

// SAFETY: plain integers without padding, for which all bytes are valid.
unsafe impl aya::Pod for Served {}

/// Loads and attaches its programs: as root.
pub(crate) fn load(counts_calls: bool) -> Result<Ebpf, RecordError> {
    let btf = Btf::from_sys_fs().map_err(|_| RecordError::NoBtf { release: kernel_release() })?;
    let mut programs = EbpfLoader::new().btf(Some(&btf)).load(OBJECT).map_err(|error| refused("services", &error))?;
    for (name, trace_point) in PROGRAMS.into_iter().chain(counts_calls.then_some(CALLS)) {
        attach(&mut programs, name, trace_point, &btf)?;
    }
    Ok(programs)
}

/// The sums in the kernel, and whose they are.
pub struct Counters {
    served: PerCpuArray<MapData, Served>,
    members: HashMap<MapData, u32, u32>,
    /// Keeps the programs attached.
    _programs: Loaded,
}

impl Counters {
    pub fn load(counts_calls: bool) -> Result<Counters, RecordError> {
        host::may_record()?;
        let mut loaded = Loaded::load(Load::Services { counts_calls })?;
        let served = Map::PerCpuArray(loaded.take("served")?);
        let members = Map::HashMap(loaded.take("members")?);
        Ok(Counters {
            served: PerCpuArray::try_from(served).map_err(|error| refused("served", &error))?,
            members: HashMap::try_from(members).map_err(|error| refused("members", &error))?,
            _programs: loaded,
        })
    }

    /// Says whose each process is. The kernel's side adds children by itself; those that are gone are taken out.
    pub fn assign(&mut self, wanted: &BTreeMap<u32, u32>) {
        let known = self.members.iter().flatten().collect::<BTreeMap<u32, u32>>();
        for pid in known.keys().filter(|pid| !wanted.contains_key(pid)) {
            // One that ended meanwhile is gone already.
            let _ = self.members.remove(pid);
        }
        for (pid, service) in wanted.iter().filter(|(pid, service)| known.get(pid) != Some(service)) {
            // Where there is no room, what this process serves is missing.
            let _ = self.members.insert(*pid, *service, 0);
        }
    }

    /// The sums of a service since the programs were loaded.
    pub fn read(&self, service: u32) -> Served {
        let Ok(values) = self.served.get(&service, 0) else { return Served::default() };
        values.iter().fold(Served::default(), |sum, one| sum.with(one, u64::wrapping_add))
    }
}

impl Served {
    fn with(&self, other: &Served, act: fn(u64, u64) -> u64) -> Served {
        Served {
            requests: act(self.requests, other.requests),
            connections: act(self.connections, other.connections),
            received: act(self.received, other.received),
            sent: act(self.sent, other.sent),
            answering: act(self.answering, other.answering),
            failures: act(self.failures, other.failures),
            retransmitted: act(self.retransmitted, other.retransmitted),
            calls: act(self.calls, other.calls),
        }
    }

    /// What was added since.
    pub fn since(&self, before: &Served) -> Served {
        self.with(before, u64::saturating_sub)
    }

    /// Enters it into a service's figures.
    pub fn enter(&self, figures: &mut ServiceSample, counts_calls: bool) {
        figures.counts_requests = true;
        figures.counts_calls = counts_calls;
        figures.requests = self.requests;
        figures.connections = self.connections;
        figures.received = self.received;
        figures.sent = self.sent;
        figures.answering = Nanos(self.answering);
        figures.failures = self.failures;
        figures.retransmitted = self.retransmitted;
        figures.calls = self.calls;
    }
}
