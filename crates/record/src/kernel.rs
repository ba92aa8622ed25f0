//! The recorder's programs in the kernel: loaded, attached, and taken out again when dropped.

use crate::calls;
use crate::error::RecordError;
use crate::events::kind;
use crate::loaded::{Load, Loaded, no_map, refused};
use aya::maps::{Array, HashMap, Map, MapData, PerCpuArray, RingBuf};
use aya::programs::perf_event::{PerfEventConfig, PerfEventLink, PerfEventScope, SamplePolicy, SoftwareEvent};
use aya::programs::tp_btf::BtfTracePointLink;
use aya::programs::{BtfTracePoint, PerfEvent};
use aya::util::online_cpus;
use aya::{Btf, Ebpf, EbpfLoader};

/// Compiled by build.rs.
static OBJECT: &[u8] = aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/recorder.bpf.o"));

/// Each program that is always on its trace point, and which that is.
const PROGRAMS: [(&str, &str); 9] = [
    ("on_fork", "sched_process_fork"),
    ("on_exec", "sched_process_exec"),
    ("on_exit", "sched_process_exit"),
    ("on_switch", "sched_switch"),
    ("on_waking", "sched_waking"),
    ("on_state", "inet_sock_set_state"),
    ("on_retransmit", "tcp_retransmit_skb"),
    ("on_timer", "timer_expire_entry"),
    ("on_return", "sys_exit"),
];

/// The same of those that are on theirs only while rows are made: what is counted all the time shows elsewhere. A trace point that
/// nobody watches costs nothing; one with a program that has nothing to do costs each call 70 ns.
const OF_ROWS: [(&str, &str); 3] =
    [("on_transmit", "net_dev_start_xmit"), ("on_receive", "tcp_probe"), ("on_enter", "sys_enter")];

/// The maps that its user reads and fills.
pub(crate) const MAPS: [&str; 14] = [
    "ring",
    "threads",
    "watched_endings",
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

/// The recorder as whoever loaded it holds it.
pub(crate) struct Recorder {
    pub ebpf: Ebpf,
    sampling_hertz: u32,
    /// What is attached to make rows. Dropped, each is taken off.
    of_rows: Vec<BtfTracePointLink>,
    samplers: Vec<PerfEventLink>,
}

/// The loaded programs and their maps. Dropping it detaches everything.
pub struct Kernel {
    loaded: Loaded,
    /// What could not be attached, and why: one sentence each.
    pub missing: Vec<String>,
}

/// Loads and attaches all programs: as root, and so nothing here is chosen by anybody but the sampling rate. The object, and what
/// could not be attached.
pub(crate) fn load(sampling_hertz: u32, counts_requests: bool) -> Result<(Recorder, Vec<String>), RecordError> {
    let btf = Btf::from_sys_fs().map_err(|_| RecordError::NoBtf { release: kernel_release() })?;
    let classes = calls::classes();
    let timer = symbol_address("tcp_delack_timer").unwrap_or(0);
    let mut ebpf = EbpfLoader::new()
        .btf(Some(&btf))
        .override_global("classes", &classes, true)
        .override_global("delayed_ack_timer", &timer, true)
        .override_global("counts_requests", &u8::from(counts_requests), true)
        .load(OBJECT)
        .map_err(|error| refused("recorder", &error))?;
    let mut missing = Vec::new();
    if timer == 0 {
        missing.push("delayed-ACK timers: /proc/kallsyms does not tell where the kernel's timer is".to_string());
    }
    for (name, trace_point) in PROGRAMS {
        attach(&mut ebpf, name, trace_point, &btf)?;
    }
    for (name, trace_point) in OF_ROWS {
        trace_point_program(&mut ebpf, name)?.load(trace_point, &btf).map_err(|error| refused(name, &error))?;
    }
    let mut recorder = Recorder { ebpf, sampling_hertz: 0, of_rows: Vec::new(), samplers: Vec::new() };
    if sampling_hertz > 0 {
        match load_sampler(&mut recorder.ebpf).and_then(|()| recorder.attach_samplers(sampling_hertz)) {
            Ok(()) => recorder.sampling_hertz = sampling_hertz,
            Err(error) => missing.push(format!("CPU samples: {error}")),
        }
    }
    recorder.make_rows()?;
    Ok((recorder, missing))
}

impl Recorder {
    /// Attaches what makes rows, or takes it off.
    ///
    /// # Errors
    /// Where the kernel refuses: nothing of it is attached then.
    pub fn switch_rows(&mut self, makes_rows: bool) -> Result<(), RecordError> {
        let made = if makes_rows { self.make_rows() } else { Ok(()) };
        if !makes_rows || made.is_err() {
            (self.of_rows, self.samplers) = (Vec::new(), Vec::new());
        }
        made
    }

    fn make_rows(&mut self) -> Result<(), RecordError> {
        if self.of_rows.is_empty() {
            for (name, _) in OF_ROWS {
                self.of_rows.push(link(trace_point_program(&mut self.ebpf, name)?, name)?);
            }
        }
        if self.samplers.is_empty() && self.sampling_hertz > 0 {
            self.attach_samplers(self.sampling_hertz)
        } else {
            Ok(())
        }
    }

    /// A clock on each processor.
    fn attach_samplers(&mut self, hertz: u32) -> Result<(), RecordError> {
        let processors =
            online_cpus().map_err(|(what, source)| RecordError::Io { action: what.to_string(), source })?;
        let sampler = sampler(&mut self.ebpf)?;
        let mut attach = |cpu| {
            let config = PerfEventConfig::Software(SoftwareEvent::CpuClock);
            let scope = PerfEventScope::AllProcessesOneCpu { cpu };
            let id = sampler.attach(config, scope, SamplePolicy::Frequency(u64::from(hertz)), false)?;
            sampler.take_link(id)
        };
        self.samplers = processors
            .into_iter()
            .map(&mut attach)
            .collect::<Result<_, _>>()
            .map_err(|error| refused(SAMPLER, &error))?;
        Ok(())
    }
}

impl Kernel {
    /// Loads and attaches all programs. Nothing is watched until a thread is put into the `threads` map.
    /// Whether requests are counted even where no rows are made is a choice.
    pub fn load(sampling_hertz: u32, counts_requests: bool) -> Result<Kernel, RecordError> {
        let mut loaded = Loaded::load(Load::Recorder { sampling_hertz, counts_requests })?;
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

    /// The number under which it is loaded.
    pub(crate) fn id(&self) -> u64 {
        self.loaded.id()
    }

    /// Takes the programs off their trace points; maps that were taken stay readable.
    pub fn detach(self) {
        drop(self.loaded);
    }
}

/// Counts of events, kept by the kernel side.
pub struct Counts(PerCpuArray<MapData, [u64; kind::COUNT as usize]>);

impl Counts {
    /// The counts so far, by kind.
    pub fn counts(&self) -> [u64; kind::COUNT as usize] {
        let mut counts = [0; kind::COUNT as usize];
        for processor in self.0.get(&0, 0).iter().flat_map(|processors| processors.iter()) {
            counts.iter_mut().zip(processor).for_each(|(sum, count)| *sum += count);
        }
        counts
    }
}

/// Loads one program of an object and puts it on its trace point.
pub(crate) fn attach(ebpf: &mut Ebpf, name: &str, trace_point: &str, btf: &Btf) -> Result<(), RecordError> {
    let program = trace_point_program(ebpf, name)?;
    program.load(trace_point, btf).map_err(|error| refused(name, &error))?;
    program.attach().map_err(|error| refused(name, &error))?;
    Ok(())
}

fn trace_point_program<'ebpf>(ebpf: &'ebpf mut Ebpf, name: &str) -> Result<&'ebpf mut BtfTracePoint, RecordError> {
    let program = ebpf.program_mut(name).ok_or_else(|| no_map(name))?;
    program.try_into().map_err(|error| refused(name, &error))
}

fn link(program: &mut BtfTracePoint, name: &str) -> Result<BtfTracePointLink, RecordError> {
    program.attach().and_then(|id| program.take_link(id)).map_err(|error| refused(name, &error))
}

/// The program of the sampling clock.
const SAMPLER: &str = "on_sample";

fn sampler(ebpf: &mut Ebpf) -> Result<&mut PerfEvent, RecordError> {
    let program = ebpf.program_mut(SAMPLER).ok_or_else(|| no_map(SAMPLER))?;
    program.try_into().map_err(|error| refused(SAMPLER, &error))
}

fn load_sampler(ebpf: &mut Ebpf) -> Result<(), RecordError> {
    sampler(ebpf)?.load().map_err(|error| refused(SAMPLER, &error))
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
        let kernel = Kernel::load(997, true).expect("all programs load");
        assert!(kernel.missing.is_empty(), "{:?}", kernel.missing);
    }
}
