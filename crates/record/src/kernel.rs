//! The recorder's programs in the kernel: loaded, attached, and taken out again when dropped.

use crate::calls;
use crate::error::RecordError;
use crate::events::kind;
use crate::loaded::{Load, Loaded, no_map, refused};
use aya::maps::{Array, HashMap, Map, MapData, PerCpuArray, RingBuf};
use aya::programs::perf_event::{PerfEventConfig, PerfEventScope, SamplePolicy, SoftwareEvent};
use aya::programs::{BtfTracePoint, PerfEvent};
use aya::util::online_cpus;
use aya::{Btf, Ebpf, EbpfLoader};

/// Compiled by build.rs.
static OBJECT: &[u8] = aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/recorder.bpf.o"));

/// Each program and the trace point it watches.
const PROGRAMS: [(&str, &str); 12] = [
    ("on_fork", "sched_process_fork"),
    ("on_exec", "sched_process_exec"),
    ("on_exit", "sched_process_exit"),
    ("on_switch", "sched_switch"),
    ("on_waking", "sched_waking"),
    ("on_state", "inet_sock_set_state"),
    ("on_transmit", "net_dev_start_xmit"),
    ("on_receive", "tcp_probe"),
    ("on_retransmit", "tcp_retransmit_skb"),
    ("on_timer", "timer_expire_entry"),
    ("on_enter", "sys_enter"),
    ("on_return", "sys_exit"),
];

/// The maps that its user reads and fills.
pub(crate) const MAPS: [&str; 13] = [
    "ring",
    "threads",
    "listeners",
    "interpreters",
    "any_interpreter",
    "lost",
    "rows_epoch",
    "withheld",
    "call_sums",
    "other_sums",
    "open_sums",
    "costs",
    "watched_time",
];

/// The loaded programs and their maps. Dropping it detaches everything.
pub struct Kernel {
    loaded: Loaded,
    /// What could not be attached, and why: one sentence each.
    pub missing: Vec<String>,
}

/// Loads and attaches all programs: as root, and so nothing here is chosen by anybody but the sampling rate. The object, and what
/// could not be attached.
pub(crate) fn load(sampling_hertz: u32) -> Result<(Ebpf, Vec<String>), RecordError> {
    let btf = Btf::from_sys_fs().map_err(|_| RecordError::NoBtf { release: kernel_release() })?;
    let classes = calls::classes();
    let timer = symbol_address("tcp_delack_timer").unwrap_or(0);
    let mut ebpf = EbpfLoader::new()
        .btf(Some(&btf))
        .override_global("classes", &classes, true)
        .override_global("delayed_ack_timer", &timer, true)
        .load(OBJECT)
        .map_err(|error| refused("recorder", &error))?;
    let mut missing = Vec::new();
    if timer == 0 {
        missing.push("delayed-ACK timers: /proc/kallsyms does not tell where the kernel's timer is".to_string());
    }
    for (name, trace_point) in PROGRAMS {
        attach(&mut ebpf, name, trace_point, &btf)?;
    }
    if sampling_hertz > 0
        && let Err(error) = attach_sampler(&mut ebpf, sampling_hertz)
    {
        missing.push(format!("CPU samples: {error}"));
    }
    Ok((ebpf, missing))
}

impl Kernel {
    /// Loads and attaches all programs. Nothing is watched until a thread is put into the `threads` map.
    pub fn load(sampling_hertz: u32) -> Result<Kernel, RecordError> {
        let mut loaded = Loaded::load(Load::Recorder { sampling_hertz })?;
        let missing = std::mem::take(&mut loaded.missing);
        Ok(Kernel { loaded, missing })
    }

    /// The ring that all events come through; can be taken once.
    pub fn take_ring(&mut self) -> Result<RingBuf<MapData>, RecordError> {
        let map = self.loaded.take("ring")?;
        RingBuf::try_from(Map::RingBuf(map)).map_err(|error| refused("ring", &error))
    }

    /// A hash map of the recorder, for the one who fills or reads it; can be taken once.
    pub fn take_map<K: aya::Pod, V: aya::Pod>(&mut self, name: &str) -> Result<HashMap<MapData, K, V>, RecordError> {
        let map = self.loaded.take(name)?;
        HashMap::try_from(Map::HashMap(map)).map_err(|error| refused(name, &error))
    }

    /// An array of the recorder, such as a switch that has one item; can be taken once.
    pub fn take_array<V: aya::Pod>(&mut self, name: &str) -> Result<Array<MapData, V>, RecordError> {
        let map = self.loaded.take(name)?;
        Array::try_from(Map::Array(map)).map_err(|error| refused(name, &error))
    }

    /// An array of which each processor has its own; can be taken once.
    pub fn take_processors<V: aya::Pod>(&mut self, name: &str) -> Result<PerCpuArray<MapData, V>, RecordError> {
        let map = self.loaded.take(name)?;
        PerCpuArray::try_from(Map::PerCpuArray(map)).map_err(|error| refused(name, &error))
    }

    /// Counts of events by kind: `lost` for want of room, or `withheld` beyond the limit; each can be taken once.
    pub fn take_counts(&mut self, name: &str) -> Result<Counts, RecordError> {
        Ok(Counts(self.take_processors(name)?))
    }

    /// Takes the programs off their trace points; maps that were taken stay readable.
    pub fn detach(self) {
        drop(self.loaded);
    }
}

/// Counts of events, kept by the kernel side.
pub struct Counts(PerCpuArray<MapData, u64>);

impl Counts {
    /// The counts so far, by kind.
    pub fn counts(&self) -> [u64; kind::COUNT as usize] {
        let mut counts = [0; kind::COUNT as usize];
        for (kind, count) in counts.iter_mut().enumerate() {
            *count = self.0.get(&(kind as u32), 0).map_or(0, |processors| processors.iter().sum());
        }
        counts
    }
}

/// Loads one program of an object and puts it on its trace point.
pub(crate) fn attach(ebpf: &mut Ebpf, name: &str, trace_point: &str, btf: &Btf) -> Result<(), RecordError> {
    let program = ebpf.program_mut(name).ok_or_else(|| no_map(name))?;
    let program: &mut BtfTracePoint = program.try_into().map_err(|error| refused(name, &error))?;
    program.load(trace_point, btf).map_err(|error| refused(name, &error))?;
    program.attach().map_err(|error| refused(name, &error))?;
    Ok(())
}

fn attach_sampler(ebpf: &mut Ebpf, hertz: u32) -> Result<(), RecordError> {
    let name = "on_sample";
    let program = ebpf.program_mut(name).ok_or_else(|| no_map(name))?;
    let program: &mut PerfEvent = program.try_into().map_err(|error| refused(name, &error))?;
    program.load().map_err(|error| refused(name, &error))?;
    let processors = online_cpus().map_err(|(what, source)| RecordError::Io { action: what.to_string(), source })?;
    for cpu in processors {
        program
            .attach(
                PerfEventConfig::Software(SoftwareEvent::CpuClock),
                PerfEventScope::AllProcessesOneCpu { cpu },
                SamplePolicy::Frequency(u64::from(hertz)),
                false,
            )
            .map_err(|error| refused(name, &error))?;
    }
    Ok(())
}

/// The kernel's release, as `uname -r` prints it.
pub fn kernel_release() -> String {
    std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_string()
}

/// The address of a kernel function; none where the kernel does not tell.
fn symbol_address(name: &str) -> Option<u64> {
    let symbols = std::fs::read_to_string("/proc/kallsyms").ok()?;
    let line = symbols.lines().find(|line| line.split_whitespace().nth(2) == Some(name))?;
    u64::from_str_radix(line.split_whitespace().next()?, 16).ok().filter(|address| *address != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_loads_on_this_kernel() {
        if !testing::is_root() {
            return;
        }
        let kernel = Kernel::load(997).expect("all programs load");
        assert!(kernel.missing.is_empty(), "{:?}", kernel.missing);
    }
}
