//! The drain: takes events out of the ring every 20 ms, turns them into rows, and reads from /proc what only a living
//! process can tell.

use crate::call_rows::CallRows;
use crate::connections::Connections;
use crate::counters::{self, Counters};
use crate::error::RecordError;
use crate::events::{
    self, CallEvent, Event, ExecEvent, ExitEvent, ForkEvent, MappingEvent, SampleEvent, ScriptEvent, SegmentEvent, SocketEvent,
    StackEvent, SwitchEvent, TcpEvent, ThreadState, kind,
};
use crate::kernel::Lost;
use crate::lifetimes::{self, Lifetimes};
use crate::places::Places;
use crate::python::{self, Interpreter, Offsets};
use crate::recorder::{Progress, Role};
use crate::runtime;
use crate::stack::CodeFile;
use aya::maps::{Array, HashMap, MapData, RingBuf};
use case::tables::{Loss, Sample, Segment, Switch, direction, event};
use case::{CaseError, CaseWriter, Nanos};
use rustc_hash::FxHashMap;

/// When a new program is looked at, after it began: its libraries are mapped within the first milliseconds, and what
/// it loads later is found by the later looks. In milliseconds.
const LOOKS: [u64; 4] = [5, 50, 300, 1_500];

/// Files without readable code that are named in the answer.
const UNREADABLE_SHOWN: usize = 5;

/// The maps that the drain reads and fills.
pub struct Maps {
    /// Interpreters, by process.
    pub interpreters: HashMap<MapData, u32, Offsets>,
    /// Whether there is any, for the kernel side to look for frames.
    pub any_interpreter: Array<MapData, u32>,
    /// Counts of lost events.
    pub lost: Lost,
}

/// Turns events into rows.
pub struct Drain {
    maps: Maps,
    writer: CaseWriter,
    rows: CallRows,
    connections: Connections,
    lifetimes: Lifetimes,
    places: Places,
    switches: Vec<Switch>,
    samples: Vec<Sample>,
    segments: Vec<Segment>,
    tcp_events: Vec<case::tables::TcpEvent>,
    interpreters: FxHashMap<u32, Interpreter>,
    looks: Vec<(Nanos, u32)>,
    counters: Counters,
    followed: Vec<u32>,
    lost_before: [u64; kind::COUNT as usize],
    lost_since: Nanos,
    over_limit: FxHashMap<&'static str, u64>,
    event_limit: u64,
    events: u64,
    lost: u64,
    requests: u64,
    turns: FxHashMap<u32, u8>,
    failure: Option<CaseError>,
}

impl Drain {
    /// Nothing taken yet.
    pub fn new(maps: Maps, writer: CaseWriter, event_limit: u64) -> Drain {
        Drain {
            maps,
            writer,
            rows: CallRows::default(),
            connections: Connections::default(),
            lifetimes: Lifetimes::default(),
            places: Places::new(),
            switches: Vec::new(),
            samples: Vec::new(),
            segments: Vec::new(),
            tcp_events: Vec::new(),
            interpreters: FxHashMap::default(),
            looks: Vec::new(),
            counters: Counters::default(),
            followed: Vec::new(),
            lost_before: [0; kind::COUNT as usize],
            lost_since: now(),
            over_limit: FxHashMap::default(),
            event_limit,
            events: 0,
            lost: 0,
            requests: 0,
            turns: FxHashMap::default(),
            failure: None,
        }
    }

    /// A process is followed from now on.
    pub fn follow(&mut self, pid: u32, role: Role) {
        self.lifetimes.followed(pid, role, now());
        self.followed.push(pid);
        // Counting begins anew with each, so that all namespaces are counted from one moment.
        self.counters = Counters::read(&self.followed);
    }

    /// How far it has got.
    pub fn progress(&self) -> Progress {
        Progress { events: self.events, lost: self.lost, requests: self.requests }
    }

    /// Takes all events that the ring holds.
    pub fn take(&mut self, ring: &mut RingBuf<MapData>) {
        while let Some(item) = ring.next() {
            self.take_event(&item);
        }
    }

    /// What is done between takings: rows are handed on, losses counted, new programs looked at.
    pub fn turn(&mut self) {
        let now = now();
        self.count_losses(now);
        let due: Vec<u32> = self.looks.iter().filter(|(at, _)| *at <= now).map(|(_, pid)| *pid).collect();
        self.looks.retain(|(at, _)| *at > now);
        for pid in due {
            self.look(pid);
        }
        self.hand_on();
    }

    fn take_event(&mut self, bytes: &[u8]) {
        let Some(&[low, high]) = bytes.first_chunk::<2>() else { return };
        self.events += 1;
        match u16::from_le_bytes([low, high]) {
            kind::CALL => self.call(bytes),
            kind::SWITCH => self.switch(bytes),
            kind::SEGMENT => self.segment(bytes),
            kind::SAMPLE => self.sample(bytes),
            kind::STACK => self.stack(bytes),
            kind::SCRIPT => self.script(bytes),
            kind::SOCKET => {
                if let Some(event) = SocketEvent::read(bytes) {
                    self.connections.announced(&event);
                }
            }
            kind::TCP => self.tcp(bytes),
            kind::FORK => self.fork(bytes),
            kind::EXEC => self.exec(bytes),
            kind::EXIT => self.exit(bytes),
            kind::MAPPING => self.mapping(bytes),
            _ => {}
        }
    }

    /// Whether one more row of a table that grows with the load still fits.
    fn has_room(&mut self, table: &'static str) -> bool {
        if self.events <= self.event_limit {
            return true;
        }
        *self.over_limit.entry(table).or_default() += 1;
        false
    }

    fn call(&mut self, bytes: &[u8]) {
        let Some(event) = CallEvent::read(bytes) else { return };
        let head = &bytes[size_of::<CallEvent>()..];
        let head = &head[..head.len().min(usize::from(event.head_length))];
        self.count_request(&event);
        if self.has_room("calls") {
            let (stack, script) = (self.places.stack(event.stack), self.places.script_stack(event.script));
            self.rows.take(&event, head, &mut self.connections, stack, script);
        }
    }

    /// A request: bytes out on a client's connection after bytes in, or first of all.
    fn count_request(&mut self, event: &CallEvent) {
        if event.socket == 0 || event.result <= 0 {
            return;
        }
        let Some(recorded) = crate::calls::recorded(event.number) else { return };
        let turn = match recorded.flow {
            crate::calls::Flow::In => direction::IN,
            crate::calls::Flow::Out => direction::OUT,
            crate::calls::Flow::Nothing => return,
        };
        let before = self.turns.insert(event.socket, turn);
        let is_request = turn == direction::OUT && before != Some(direction::OUT);
        if is_request && self.connections.role(event.socket) == case::tables::role::CLIENT {
            self.requests += 1;
        }
    }

    fn switch(&mut self, bytes: &[u8]) {
        let Some(event) = SwitchEvent::read(bytes) else { return };
        if self.has_room("switches") {
            self.switches.push(Switch {
                start: Nanos(event.start),
                runnable: Nanos(event.runnable),
                end: Nanos(event.end),
                tid: event.tid,
                waker: event.waker,
                reason: event.reason as u8,
            });
        }
    }

    fn segment(&mut self, bytes: &[u8]) {
        let Some(event) = SegmentEvent::read(bytes) else { return };
        self.connections.passed(&event);
        if self.has_room("segments") {
            self.segments.push(Segment {
                time: Nanos(event.time),
                connection: event.socket,
                direction: event.direction,
                flags: event.flags,
                sequence: event.sequence,
                acknowledged: event.acknowledged,
                payload: event.payload,
            });
        }
    }

    fn sample(&mut self, bytes: &[u8]) {
        let Some(event) = SampleEvent::read(bytes) else { return };
        let frames = (event.kernel_frames as usize).min(event.kernel_stack.len());
        let kernel_stack = self.places.kernel_stack(&event.kernel_stack[..frames]);
        self.samples.push(Sample {
            time: Nanos(event.time),
            tid: event.tid,
            pid: event.pid,
            kernel: frames > 0,
            call_plus_one: event.call_plus_one,
            stack: self.places.stack(event.stack),
            kernel_stack,
            script_stack: self.places.script_stack(event.script),
        });
    }

    fn stack(&mut self, bytes: &[u8]) {
        let Some(event) = StackEvent::read(bytes) else { return };
        let copy = &bytes[size_of::<StackEvent>()..];
        if !self.places.copied(&event, copy) {
            self.places.incomplete += 1;
        }
    }

    fn script(&mut self, bytes: &[u8]) {
        let Some(event) = ScriptEvent::read(bytes) else { return };
        if let Some(interpreter) = self.interpreters.get(&event.pid) {
            self.places.script(&event, &bytes[size_of::<ScriptEvent>()..], interpreter);
        }
    }

    fn tcp(&mut self, bytes: &[u8]) {
        let Some(event) = TcpEvent::read(bytes) else { return };
        self.connections.changed(&event);
        let (before, after) = match event.event as u8 {
            event::STATE => (event.before, event.after),
            _ => (0, 0),
        };
        self.tcp_events.push(case::tables::TcpEvent {
            time: Nanos(event.time),
            connection: event.socket,
            event: event.event as u8,
            before,
            after,
        });
    }

    fn fork(&mut self, bytes: &[u8]) {
        let Some(event) = ForkEvent::read(bytes) else { return };
        if !self.lifetimes.forked(&event) {
            return;
        }
        self.places.native.inherit(event.parent_pid, event.pid);
        self.rows.forked(event.parent_pid, event.pid);
        if let Some(interpreter) = self.interpreters.get(&event.parent_pid).copied() {
            self.install(event.pid, interpreter);
        }
    }

    fn exec(&mut self, bytes: &[u8]) {
        let Some(event) = ExecEvent::read(bytes) else { return };
        let began = Nanos(event.time);
        self.forget(event.pid);
        let path = lifetimes::text(&event.executable);
        self.lifetimes.executed(event.pid, &path, began);
        let file = CodeFile { device: event.device, inode: event.inode, path };
        self.places.native.executed(event.pid, &file, event.text_start..event.text_end, event.interpreter);
        self.look(event.pid);
        self.looks.extend(LOOKS.map(|after| (began + Nanos(after * 1_000_000), event.pid)));
    }

    fn mapping(&mut self, bytes: &[u8]) {
        let Some(event) = MappingEvent::read(bytes) else { return };
        let path = self.rows.open_path(event.pid, event.fd).unwrap_or_default();
        let file = CodeFile { device: event.device, inode: event.inode, path };
        let addresses = event.start..event.start.saturating_add(event.length);
        self.places.native.mapped(event.pid, &file, addresses, event.file_offset);
    }

    fn exit(&mut self, bytes: &[u8]) {
        let Some(event) = ExitEvent::read(bytes) else { return };
        self.lifetimes.exited(&event);
        if event.tid == event.pid {
            self.forget(event.pid);
            self.rows.exited(event.pid);
        }
    }

    fn forget(&mut self, pid: u32) {
        self.places.native.forget(pid);
        self.places.scripts.forget(pid);
        if self.interpreters.remove(&pid).is_some() {
            // The entry may be gone already: there is nothing to undo then.
            let _ = self.maps.interpreters.remove(&pid);
        }
        self.looks.retain(|(_, other)| *other != pid);
    }

    /// Looks at what a process has mapped, and whether an interpreter is among it.
    fn look(&mut self, pid: u32) {
        self.places.native.learn(pid);
        self.lifetimes.look(pid);
        let mapped: Vec<String> = self.places.native.mapped_paths(pid).into_iter().map(|(path, _, _)| path).collect();
        self.lifetimes.runs_on(pid, runtime::detect(pid, &mapped));
        if !self.interpreters.contains_key(&pid)
            && let Some(interpreter) = python::locate(pid)
        {
            self.install(pid, interpreter);
        }
    }

    fn install(&mut self, pid: u32, interpreter: Interpreter) {
        // Where the map is full (its limit is in scripts.bpf.h), this process's script lines stay unknown.
        if self.maps.interpreters.insert(pid, interpreter.offsets, 0).is_ok() {
            self.interpreters.insert(pid, interpreter);
            // Setting an entry of an array cannot fail for want of room.
            let _ = self.maps.any_interpreter.set(0, 1, 0);
        }
    }

    fn count_losses(&mut self, now: Nanos) {
        let counts = self.maps.lost.counts();
        let mut losses = Vec::new();
        for (kind, (before, count)) in self.lost_before.iter().zip(counts).enumerate() {
            if count > *before {
                losses.push((events::table_of(kind as u32), "ring full", count - before));
            }
        }
        losses.extend(self.over_limit.drain().map(|(table, count)| (table, "event limit", count)));
        self.lost_before = counts;
        self.lost += losses.iter().map(|(_, _, count)| count).sum::<u64>();
        losses.sort_unstable();
        let start = self.lost_since;
        let rows = losses.into_iter().map(|(table, reason, count)| Loss {
            start,
            end: now,
            table: table.to_string(),
            reason: reason.to_string(),
            count,
        });
        let result = self.writer.append(rows);
        self.keep_failure(result);
        self.lost_since = now;
    }

    /// Hands the rows gathered so far to the case. After a failure rows are dropped: the subject goes on undisturbed.
    fn hand_on(&mut self) {
        if self.failure.is_some() {
            self.rows.calls.clear();
            self.segments.clear();
            self.switches.clear();
            return;
        }
        let result = self.write_rows();
        self.keep_failure(result);
    }

    fn write_rows(&mut self) -> Result<(), CaseError> {
        let writer = &mut self.writer;
        writer.append(self.rows.calls.drain(..))?;
        writer.append(self.rows.records.drain(..))?;
        writer.append(self.rows.messages.drain(..))?;
        writer.append(self.rows.handshakes.drain(..))?;
        writer.append(self.rows.lookups.drain(..))?;
        writer.append(self.rows.paths.drain(..))?;
        writer.append(self.switches.drain(..))?;
        writer.append(self.samples.drain(..))?;
        writer.append(self.segments.drain(..))?;
        writer.append(self.tcp_events.drain(..))
    }

    fn keep_failure(&mut self, result: Result<(), CaseError>) {
        if let Err(error) = result {
            self.failure.get_or_insert(error);
        }
    }

    /// Why recording cannot go on, where it cannot.
    pub fn failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Writes everything that is known only at the end, and hands back the writer.
    pub fn finish(
        mut self,
        threads: &HashMap<MapData, u32, ThreadState>,
        end: Nanos,
    ) -> Result<CaseWriter, RecordError> {
        let mut still: Vec<(u32, ThreadState)> = threads.iter().filter_map(Result::ok).collect();
        still.sort_by_key(|(tid, _)| *tid);
        for (tid, state) in &still {
            if state.entered > 0 {
                self.rows.unfinished(*tid, state, end);
            }
            self.switches.extend(off_at_the_end(*tid, state, end));
            self.lifetimes.still_runs(*tid, state, end);
        }
        self.count_losses(end);
        self.hand_on();
        if let Some(error) = self.failure {
            return Err(error.into());
        }
        let mut writer = self.writer;
        if self.places.incomplete > 0 {
            let start = writer.manifest().start;
            writer.append([Loss {
                start,
                end,
                table: "stacks".to_string(),
                reason: "not walked to the thread's first function".to_string(),
                count: self.places.incomplete,
            }])?;
        }
        writer.append(counters::moved(&self.counters, &self.counters.again()))?;
        let manifest = writer.manifest();
        (manifest.start, manifest.end) = self.lifetimes.window(manifest.start, end);
        let (connections, handshakes) = self.connections.finish(end);
        let (processes, lifetimes) = self.lifetimes.finish(end);
        let unreadable = self.places.native.unreadable_paths();
        let missing = unreadable.iter().take(UNREADABLE_SHOWN);
        writer.manifest().missing.extend(missing.map(|path| format!("functions of {path}: it could not be read")));
        let (stacks, locations) = self.places.finish();
        writer.append(connections)?;
        writer.append(handshakes)?;
        writer.append(processes)?;
        writer.append(lifetimes)?;
        writer.append(stacks)?;
        writer.append(locations)?;
        Ok(writer)
    }
}

/// The interval off the processor that a thread was in when recording ended.
fn off_at_the_end(tid: u32, state: &ThreadState, end: Nanos) -> Option<Switch> {
    let start = Nanos(state.off_since);
    let runnable = if state.runnable > 0 { Nanos(state.runnable) } else { end };
    let off = state.off_since > 0 && start < end;
    off.then_some(Switch { start, runnable, end, tid, waker: state.waker, reason: state.reason as u8 })
}

/// Now, in nanoseconds since boot.
pub fn now() -> Nanos {
    let time = nix::time::clock_gettime(nix::time::ClockId::CLOCK_BOOTTIME);
    time.map_or(Nanos(0), |time| Nanos(time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64))
}
