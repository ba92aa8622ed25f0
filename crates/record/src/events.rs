//! The events that the BPF programs hand over: a mirror of `bpf/events.h`, field for field.

/// Kinds of event, the first two bytes of each.
pub mod kind {
    pub const CALL: u16 = 1;
    pub const SWITCH: u16 = 2;
    pub const SAMPLE: u16 = 3;
    pub const STACK: u16 = 4;
    pub const SCRIPT: u16 = 5;
    pub const SOCKET: u16 = 6;
    pub const SEGMENT: u16 = 7;
    pub const TCP: u16 = 8;
    pub const FORK: u16 = 9;
    pub const EXEC: u16 = 10;
    pub const EXIT: u16 = 11;
    pub const MAPPING: u16 = 12;
    /// One more than the last.
    pub const COUNT: u32 = 13;
}

/// The table that lacks a row when an event of a kind is lost.
pub fn table_of(kind: u32) -> &'static str {
    match kind as u16 {
        kind::CALL => "calls",
        kind::SWITCH => "switches",
        kind::SAMPLE => "samples",
        kind::STACK | kind::SCRIPT => "stacks",
        kind::SOCKET => "connections",
        kind::SEGMENT => "segments",
        kind::TCP => "tcp_events",
        _ => "processes",
    }
}

/// A struct that the kernel side fills in, any bit pattern of which is a value.
///
/// # Safety
/// Implementors are `repr(C)`, have integer fields only, and no padding that matters.
pub unsafe trait Event: Copy {
    /// Reads the struct from the front of an event's bytes; none where they are too few.
    fn read(bytes: &[u8]) -> Option<Self> {
        if bytes.len() < size_of::<Self>() {
            return None;
        }
        // SAFETY: the length was checked; the type takes any bit pattern; the read does not need alignment.
        Some(unsafe { std::ptr::read_unaligned(bytes.as_ptr().cast::<Self>()) })
    }
}

macro_rules! events {
    ($( $name:ident { $( $field:ident: $type:ty, )* } )*) => { $(
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        pub struct $name { $( pub $field: $type, )* }
        // SAFETY: repr(C), integers only.
        unsafe impl Event for $name {}
    )* };
}

events! {
    CallEvent {
        kind: u16, number: u16, tid: u32, pid: u32, fd: i32, start: u64, duration: u64, blocked: u64, result: i64,
        arguments: [u64; 3], socket: u32, stack: u32, script: u32, head_length: u16, head_is_path: u16,
    }
    SwitchEvent { kind: u16, reason: u16, tid: u32, start: u64, runnable: u64, end: u64, waker: u32, pad: u32, }
    SampleEvent {
        kind: u16, call_plus_one: u16, tid: u32, pid: u32, stack: u32, time: u64, script: u32, kernel_frames: u32,
        kernel_stack: [u64; 24],
    }
    StackEvent { kind: u16, pad: u16, number: u32, pid: u32, length: u32, registers: [u64; 17], }
    ScriptEvent { kind: u16, frames: u16, number: u32, pid: u32, pad: u32, }
    ScriptFrame { code: u64, instruction: u64, }
    SocketEvent {
        kind: u16, family: u16, socket: u32, pid: u32, network_namespace: u32, time: u64, local_address: [u8; 16],
        remote_address: [u8; 16], local_port: u16, remote_port: u16, role: u8, protocol: u8, socket_type: u16,
        srtt_us: u32, mss: u16, nodelay: u16,
    }
    SegmentEvent {
        kind: u16, direction_and_limit: u8, flags: u8, socket: u32, time: u64, sequence: u32, acknowledged: u32, payload: u32,
        srtt_us: u32,
    }
    TcpEvent {
        kind: u16, event: u16, socket: u32, time: u64, before: u32, after: u32, srtt_us: u32, mss: u16, nodelay: u16,
    }
    ForkEvent { kind: u16, pad: u16, parent_pid: u32, tid: u32, pid: u32, time: u64, }
    ExecEvent {
        kind: u16, pad: u16, pid: u32, time: u64, text_start: u64, text_end: u64, interpreter: u64, inode: u64,
        device: u32, pad2: u32, executable: [u8; 128],
    }
    MappingEvent {
        kind: u16, pad: u16, pid: u32, start: u64, length: u64, file_offset: u64, inode: u64, device: u32, fd: i32,
    }
    ExitEvent {
        kind: u16, pad: u16, tid: u32, pid: u32, code: i32, time: u64, on_cpu: u64, calls: u64, recorded_calls: u64,
        on_since: u64, runtime_before: u64, begin: Sums, end: Sums, withheld: WithheldRows, waking: i64,
        name: [u8; 16],
    }
}

/// What was seen of a call's beginning (`BEGUN_…` in `bpf/maps.h`).
pub mod begun {
    /// All of it; or there was nothing to see yet, and the return that comes first is of no call that counts.
    pub const ENTERED: u32 = 1;
}

/// What the kernel side knows of a thread (`struct thread` in `bpf/maps.h`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ThreadState {
    pub entered: u64,
    pub arguments: [u64; 5],
    pub stack_pointer: u64,
    pub off_since: u64,
    pub runnable: u64,
    pub on_since: u64,
    pub on_cpu: u64,
    pub calls: u64,
    /// Those of them that are recorded, found room or not.
    pub recorded_calls: u64,
    pub blocked: u64,
    pub number: u32,
    pub pid: u32,
    pub waker: u32,
    pub reason: u16,
    pub handshake_body: u16,
    /// The epochs of rows in which it entered the call it is in, and in which it left the processor.
    pub entered_in: u32,
    pub off_in: u32,
    /// The epoch of rows in which it returned from a call last.
    pub left_in: u32,
    /// How the call it is in was seen to begin: one of [`begun`].
    pub begun: u32,
    /// Where an interpreter keeps its record of the thread.
    pub script_thread: u64,
    /// The kernel side's memory of recent call sites: 4 of 16 bytes.
    pub recent: [u64; 8],
    /// The scheduler's sums when it was first watched.
    pub begin: Sums,
    /// Its rows that were not made on purpose.
    pub withheld: WithheldRows,
    /// The scheduler's run delay when it left the processor last.
    pub run_delay: u64,
    /// From its last wake-up, or from being preempted, to running, in nanoseconds; negative: not known.
    pub waited: i64,
    /// Of all it has so waited, what is not in the scheduler's run delay, in nanoseconds.
    pub waking: i64,
}
// SAFETY: repr(C), integers only, no padding.
unsafe impl aya::Pod for ThreadState {}

impl ThreadState {
    /// The same, watched from when the scheduler's sums were these.
    #[must_use]
    pub fn counted_from(self, begin: Sums) -> ThreadState {
        ThreadState { begin, run_delay: begin.run_delay, waited: -1, ..self }
    }

    /// What the kernel side has counted of the thread.
    pub fn counted(&self) -> Counted {
        Counted { calls: self.recorded_calls, withheld: self.withheld, waking: self.waking }
    }
}

/// What the kernel side has counted of a thread beside the scheduler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Calls of the kinds that are recorded.
    pub calls: u64,
    /// Rows that were not made on purpose.
    pub withheld: WithheldRows,
    /// Of the time that it was runnable, what is not in the scheduler's run delay, in nanoseconds.
    pub waking: i64,
}

/// Where a listening socket is (`struct listener` in `bpf/maps.h`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ListenerKey {
    pub network_namespace: u32,
    pub port: u32,
}
// SAFETY: repr(C), integers only, no padding.
unsafe impl aya::Pod for ListenerKey {}

/// What programs have cost (`struct cost` in `bpf/costs.bpf.h`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// Runs that were timed, and what they took.
    pub timed: u64,
    pub time: u64,
    pub until_next: u64,
}
// SAFETY: repr(C), integers only, no padding.
unsafe impl aya::Pod for Cost {}

/// Which calls a sum is of (`struct call_key` in `bpf/sums.bpf.h`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct CallKey {
    /// The process; 0 for all for which there was no room.
    pub pid: u32,
    pub number: u32,
}
// SAFETY: repr(C), integers only, no padding.
unsafe impl aya::Pod for CallKey {}

/// The sum of calls (`struct call_sum` in `bpf/sums.bpf.h`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallCounts {
    pub calls: u64,
    pub failed: u64,
    pub bytes: u64,
    /// Of those that were timed, all that they took; of the others how long they were blocked.
    pub time: u64,
    pub blocked: u64,
    /// Those that were seen to begin.
    pub timed: u64,
}
// SAFETY: repr(C), integers only, no padding.
unsafe impl aya::Pod for CallCounts {}

/// A sum that is not among the others yet (`struct open_sum` in `bpf/sums.bpf.h`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenSum {
    pub key: CallKey,
    pub sum: CallCounts,
}
// SAFETY: repr(C), integers only, no padding.
unsafe impl aya::Pod for OpenSum {}

/// What there is to read about a call (`struct call_class` in `bpf/calls.bpf.h`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CallClass {
    pub flags: u16,
    pub time_argument: u8,
    pub value_argument: u8,
}
// SAFETY: repr(C), integers only, no padding.
unsafe impl aya::Pod for CallClass {}

// SAFETY: repr(C), integers only, no padding.
unsafe impl aya::Pod for crate::scripts::Walk {}

/// Rows of a thread that were not made on purpose (`struct withheld_rows` in `bpf/events.h`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WithheldRows {
    pub calls: u64,
    pub waits: u64,
    pub preemptions: u64,
}

/// The scheduler's sums of a thread since it was made (`struct sums` in `bpf/events.h`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// On processors, in nanoseconds.
    pub runtime: u64,
    /// Waiting for one, in nanoseconds.
    pub run_delay: u64,
    /// Switches because it had to wait.
    pub voluntary: u64,
    /// Switches because another was to run.
    pub involuntary: u64,
    /// When they were read, in nanoseconds since boot.
    pub time: u64,
    /// `runtime` may be short of this much, in nanoseconds.
    pub inexact: u64,
}
