//! The intake: one event in, rows out. It keeps what turning later events into rows needs.

use crate::call_rows::CallRows;
use crate::calls::{self, Flow};
use crate::connections::Connections;
use crate::events::{
    CallEvent, Event, ExecEvent, ExitEvent, ForkEvent, MappingEvent, SampleEvent, ScriptEvent, SegmentEvent,
    SocketEvent, StackEvent, SwitchEvent, TcpEvent, kind,
};
use crate::places::Places;
use crate::programs::Programs;
use crate::turns::{Moved, Turns};
use case::tables::{self, Process, Sample, SchedulerSum, Segment, Switch, Thread, direction, event};
use case::{CaseError, CaseWriter, Counted, Nanos};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// What a thread or process that is started takes of a recording beyond its events: rows with names, and sums, as large as so many
/// calls.
const OF_ONE_STARTED: u64 = 4;

/// Turns events into rows, which wait here until they are written.
pub struct Intake {
    /// Calls and what their bytes revealed.
    pub rows: CallRows,
    /// Sockets.
    pub connections: Connections,
    /// Processes and their code.
    pub programs: Programs,
    /// Stacks.
    pub places: Places,
    /// Intervals off the processor.
    pub switches: Vec<Switch>,
    /// Events taken.
    pub events: u64,
    /// Processes and threads that were started.
    started: u64,
    /// Requests on clients' connections.
    pub requests: u64,
    /// Events beyond the limit since last asked, by table.
    pub over_limit: BTreeMap<&'static str, u64>,
    /// The first time at which an event was beyond the limit: what happened from then on is not known.
    pub limit_reached: Option<Nanos>,
    /// The scheduler's sums of all threads that have ended.
    counted: Counted,
    samples: Vec<Sample>,
    segments: Vec<Segment>,
    tcp_events: Vec<tables::TcpEvent>,
    /// Whose turn it is on each socket.
    pub turns: Turns,
    event_limit: u64,
}

impl Intake {
    /// Nothing taken yet.
    pub fn new(programs: Programs, event_limit: u64) -> Intake {
        Intake {
            rows: CallRows::default(),
            connections: Connections::default(),
            programs,
            places: Places::new(),
            switches: Vec::new(),
            events: 0,
            started: 0,
            requests: 0,
            over_limit: BTreeMap::new(),
            limit_reached: None,
            counted: Counted::default(),
            samples: Vec::new(),
            segments: Vec::new(),
            tcp_events: Vec::new(),
            turns: Turns::default(),
            event_limit,
        }
    }

    /// Takes one event. Bytes that are no whole event are passed over.
    pub fn take(&mut self, bytes: &[u8]) {
        let Some(&[low, high]) = bytes.first_chunk::<2>() else { return };
        self.events += 1;
        match u16::from_le_bytes([low, high]) {
            kind::CALL => self.call(bytes),
            kind::SWITCH => self.switch(bytes),
            kind::SEGMENT => self.segment(bytes),
            kind::SAMPLE => self.sample(bytes),
            kind::STACK => self.stack(bytes),
            kind::SCRIPT => self.script(bytes),
            kind::SOCKET => with(bytes, |event: SocketEvent| self.connections.announced(&event)),
            kind::TCP => self.tcp(bytes),
            kind::FORK => with(bytes, |event: ForkEvent| {
                self.started += 1;
                if self.programs.forked(&event, &mut self.places) {
                    self.rows.forked(event.parent_pid, event.pid);
                }
            }),
            kind::EXEC => with(bytes, |event: ExecEvent| self.programs.executed(&event, &mut self.places)),
            kind::EXIT => with(bytes, |event: ExitEvent| {
                if self.programs.exited(&event, &mut self.places) {
                    self.rows.exited(event.pid);
                }
            }),
            kind::MAPPING => with(bytes, |event: MappingEvent| {
                let path = self.rows.open_path(event.pid, event.fd).unwrap_or_default();
                Programs::mapped(&event, path, &mut self.places);
            }),
            _ => {}
        }
    }

    /// Hands the waiting rows to the case, of all tables, whatever becomes of the first.
    ///
    /// # Errors
    /// Where the disk refuses: the first error. Rows that could not be written are counted by the case.
    pub fn write(&mut self, writer: &mut CaseWriter) -> Result<(), CaseError> {
        let (processes, threads, sums) = self.ended();
        let written = [
            writer.append(processes),
            writer.append(threads),
            writer.append(sums),
            writer.append(self.connections.take_over()),
            writer.append(self.rows.calls.drain(..)),
            writer.append(self.rows.records.drain(..)),
            writer.append(self.rows.messages.drain(..)),
            writer.append(self.rows.commands.drain(..)),
            writer.append(self.rows.handshakes.drain(..)),
            writer.append(self.rows.lookups.drain(..)),
            writer.append(self.rows.paths.drain(..)),
            writer.append(self.switches.drain(..)),
            writer.append(self.samples.drain(..)),
            writer.append(self.segments.drain(..)),
            writer.append(self.tcp_events.drain(..)),
        ];
        written.into_iter().collect()
    }

    /// Hands over what is known only once recording has ended.
    ///
    /// # Errors
    /// As [`Intake::write`].
    pub fn finish(self, writer: &mut CaseWriter, end: Nanos) -> Result<(), CaseError> {
        let (connections, handshakes) = self.connections.finish(end);
        let (processes, threads, sums) = self.programs.lifetimes.finish(end);
        if let Some(counted) = &mut writer.manifest().counted {
            let mut whole = self.counted;
            for sum in &sums {
                whole.add(sum);
            }
            *counted = Counted { until: counted.until, ..whole };
        }
        let (stacks, locations) = self.places.finish();
        // What names the rest comes first, where there may not be room for all.
        let written = [
            writer.append(processes),
            writer.append(threads),
            writer.append(connections),
            writer.append(locations),
            writer.append(stacks),
            writer.append(sums),
            writer.append(handshakes),
        ];
        written.into_iter().collect()
    }

    /// What is known only once recording has ended, for nobody; without the places, which take this host's symbols.
    pub fn end(self, end: Nanos) {
        self.connections.finish(end);
        self.programs.lifetimes.finish(end);
    }

    /// What ended since last asked; of what began after the limit was reached only the number.
    fn ended(&mut self) -> (Vec<Process>, Vec<Thread>, Vec<SchedulerSum>) {
        let (mut processes, mut threads, mut sums) = self.programs.lifetimes.ended();
        for sum in &sums {
            self.counted.add(sum);
        }
        if let Some(reached) = self.limit_reached {
            let before = (processes.len(), threads.len());
            processes.retain(|process| process.start < reached);
            threads.retain(|thread| thread.start < reached);
            let kept = threads.iter().map(|thread| thread.tid).collect::<FxHashSet<_>>();
            sums.retain(|sum| kept.contains(&sum.tid));
            let left_out = [("processes", before.0 - processes.len()), ("threads", before.1 - threads.len())];
            for (table, rows) in left_out.into_iter().filter(|(_, rows)| *rows > 0) {
                *self.over_limit.entry(table).or_default() += rows as u64;
            }
        }
        (processes, threads, sums)
    }

    /// Whether one more row of a table that grows with the load is within the limit.
    fn has_room(&mut self, table: &'static str, time: u64) -> bool {
        if self.events + OF_ONE_STARTED * self.started <= self.event_limit {
            return true;
        }
        self.limit_reached.get_or_insert(Nanos(time));
        *self.over_limit.entry(table).or_default() += 1;
        false
    }

    fn call(&mut self, bytes: &[u8]) {
        let Some(event) = CallEvent::read(bytes) else { return };
        let head = &bytes[size_of::<CallEvent>()..];
        let head = &head[..head.len().min(usize::from(event.head_length))];
        self.count_request(&event);
        if self.has_room("calls", event.start) {
            let (stack, script) = (self.places.stack(event.stack), self.places.script_stack(event.script));
            self.rows.take(&event, head, &mut self.connections, stack, script);
        }
    }

    fn count_request(&mut self, event: &CallEvent) {
        if event.socket == 0 || event.result <= 0 {
            return;
        }
        let direction = match calls::recorded(event.number).map(|recorded| recorded.flow()) {
            Some(Flow::In) => direction::IN,
            Some(Flow::Out) => direction::OUT,
            Some(Flow::Nothing) | None => return,
        };
        let (socket, role) = (event.socket, self.connections.role(event.socket));
        let (start, end) = (Nanos(event.start), Nanos(event.start.saturating_add(event.duration)));
        self.requests += u64::from(self.turns.take(Moved { socket, role, direction, start, end }));
    }

    fn switch(&mut self, bytes: &[u8]) {
        let Some(event) = SwitchEvent::read(bytes) else { return };
        if self.has_room("switches", event.start) {
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
        if self.has_room("segments", event.time) {
            self.segments.push(Segment {
                time: Nanos(event.time),
                connection: event.socket,
                direction: event.direction_and_limit & 0xf,
                flags: event.flags,
                sequence: event.sequence,
                acknowledged: event.acknowledged,
                payload: event.payload,
                limit: event.direction_and_limit >> 4,
            });
        }
    }

    fn sample(&mut self, bytes: &[u8]) {
        let Some(event) = SampleEvent::read(bytes) else { return };
        if !self.has_room("samples", event.time) {
            return;
        }
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
        self.places.copied(&event, &bytes[size_of::<StackEvent>()..]);
    }

    fn script(&mut self, bytes: &[u8]) {
        let Some(event) = ScriptEvent::read(bytes) else { return };
        if let Some(interpreter) = self.programs.interpreter(event.pid) {
            self.places.script(&event, &bytes[size_of::<ScriptEvent>()..], interpreter);
        }
    }

    fn tcp(&mut self, bytes: &[u8]) {
        let Some(event) = TcpEvent::read(bytes) else { return };
        if self.connections.changed(&event) {
            self.turns.over(event.socket);
        }
        if !self.has_room("tcp_events", event.time) {
            return;
        }
        let is_state = event.event as u8 == event::STATE;
        let (before, after) = if is_state { (event.before, event.after) } else { (0, 0) };
        let (time, connection) = (Nanos(event.time), event.socket);
        self.tcp_events.push(tables::TcpEvent { time, connection, event: event.event as u8, before, after });
    }
}

/// Reads an event and hands it on.
fn with<E: Event>(bytes: &[u8], take: impl FnOnce(E)) {
    if let Some(event) = E::read(bytes) {
        take(event);
    }
}
