//! Synthetic recordings for tests: small fixtures made of calls, segments and waits.

mod at_once;
mod in_kernel;
mod requests;

pub use at_once::{asked_at_once, asked_at_once_for};
pub use in_kernel::requests_in_kernel;
pub use requests::{keep_alive, paced, request, request_with};

use case::tables::{
    Call, Connection, Handshake, Location, Lookup, Path, Process, Sample, Segment, StackFrame, Switch, TcpEvent,
    Thread, direction, event, flags, kind, reason, role, transport,
};
use case::{Nanos, Recording};

pub const US: u64 = 1_000;
pub const MS: u64 = 1_000_000;

/// The client's thread (and process), its connection and its descriptor.
pub const CLIENT: u32 = 100;
/// The server's.
pub const SERVER: u32 = 200;

pub const READ: u16 = 0;
pub const WRITE: u16 = 1;
pub const CONNECT: u16 = 42;
pub const EPOLL_WAIT: u16 = 232;

#[derive(Default)]
pub struct Fixture {
    pub recording: Recording,
    /// The fixture's clock: when the next event happens.
    pub now: u64,
    sequences: std::collections::BTreeMap<(u32, u8), u32>,
}

impl Fixture {
    /// A machine of four processors, a client and a server process, recorded from time 1 ms on.
    pub fn new() -> Fixture {
        let mut fixture = Fixture { now: MS, ..Fixture::default() };
        fixture.recording.manifest.start = Nanos(MS);
        fixture.recording.manifest.closed = true;
        fixture.recording.manifest.host.processors = 4;
        fixture.recording.manifest.sampling_hertz = 1000;
        fixture.recording.manifest.subject.exit = Some(0);
        fixture.process(CLIENT, "client");
        fixture.process(SERVER, "server");
        fixture
    }

    pub fn process(&mut self, pid: u32, role: &str) {
        let (start, role, executable) = (Nanos(self.now), role.to_string(), format!("/usr/bin/{role}"));
        self.recording.processes.push(Process { pid, start, role, executable, exit: -1, ..Process::default() });
        self.recording.threads.push(Thread { tid: pid, pid, start, ..Thread::default() });
    }

    /// A connection between the two, as two rows: `id` the client's, `id + 1000` the server's.
    pub fn connect(&mut self, id: u32, pid: u32) {
        let start = self.now;
        self.waits(pid, 60 * US, CONNECT, |call| (call.connection, call.fd, call.result) = (id, 3, 0));
        self.rows(id, pid, start);
    }

    /// Opens a connection to a peer so near that nobody waits.
    pub fn connects_at_once(&mut self, id: u32, pid: u32) {
        let start = self.now;
        self.does(pid, 10 * US, CONNECT, |call| (call.connection, call.fd, call.result) = (id, 3, 0));
        self.rows(id, pid, start);
    }

    /// The same of which nothing else is known than that it is there.
    pub fn rows(&mut self, id: u32, pid: u32, opened: u64) {
        let client = Connection {
            id,
            pid,
            transport: transport::TCP,
            role: role::CLIENT,
            remote_address: "10.0.0.2".to_string(),
            remote_port: 80,
            opened: Nanos(opened),
            established: Nanos(self.now),
            closed: Nanos(u64::MAX),
            peer: id + 1000,
            mss: 1448,
            srtt: Nanos(30 * US),
            ..Connection::default()
        };
        let server = Connection {
            id: id + 1000,
            pid: SERVER,
            role: role::SERVER,
            peer: id,
            remote_address: "10.0.0.1".to_string(),
            remote_port: 40_000 + id as u16,
            ..client.clone()
        };
        self.recording.connections.extend([client, server]);
    }

    /// A connection of the server's to somebody whom nobody watches.
    pub fn asks_elsewhere(&mut self, id: u32, port: u16) {
        let now = Nanos(self.now);
        self.recording.connections.push(Connection {
            id,
            pid: SERVER,
            transport: transport::TCP,
            role: role::CLIENT,
            remote_address: "10.0.0.3".to_string(),
            remote_port: port,
            opened: now,
            established: now,
            closed: Nanos(u64::MAX),
            ..Connection::default()
        });
    }

    /// Both ends of a connection are closed.
    pub fn close(&mut self, id: u32) {
        let now = Nanos(self.now);
        let ends = self.recording.connections.iter_mut().filter(|row| row.id == id || row.id == id + 1000);
        ends.for_each(|row| row.closed = now);
    }

    /// Whether the client's end is closed.
    pub fn is_closed(&self, id: u32) -> bool {
        let now = Nanos(self.now);
        self.recording.connections.iter().any(|row| row.id == id && row.closed <= now)
    }

    /// A call on a processor.
    pub fn does(&mut self, tid: u32, duration: u64, number: u16, edit: impl FnOnce(&mut Call)) -> usize {
        let mut call = Call {
            start: Nanos(self.now),
            duration: Nanos(duration),
            tid,
            pid: tid,
            number,
            fd: -1,
            finished: true,
            ..Call::default()
        };
        edit(&mut call);
        self.recording.calls.push(call);
        self.now += duration;
        self.recording.calls.len() - 1
    }

    /// A call that is blocked nearly all of its time.
    pub fn waits(&mut self, tid: u32, duration: u64, number: u16, edit: impl FnOnce(&mut Call)) -> usize {
        let (start, end) = (self.now + US, self.now + duration - US);
        let blocked = Nanos(duration - 2 * US);
        self.off(tid, start, end);
        self.does(tid, duration, number, |call| {
            call.blocked = blocked;
            edit(call);
        })
    }

    /// A thread off the processor.
    pub fn off(&mut self, tid: u32, start: u64, end: u64) {
        let (start, end) = (Nanos(start), Nanos(end));
        self.recording.switches.push(Switch { start, runnable: end, end, tid, reason: reason::BLOCKED, waker: 0 });
    }

    /// A thread that loses the processor and waits for one.
    pub fn preempted(&mut self, tid: u32, duration: u64) {
        if duration == 0 {
            return;
        }
        let (start, end) = (Nanos(self.now), Nanos(self.now + duration));
        self.recording.switches.push(Switch { start, runnable: start, end, tid, reason: reason::PREEMPTED, waker: 0 });
        self.now += duration;
    }

    /// A transfer on a connection, in 5 us.
    pub fn moves(&mut self, tid: u32, connection: u32, number: u16, bytes: i64) -> usize {
        self.does(tid, 5 * US, number, |call| transfer(call, connection, bytes))
    }

    /// A blocked read.
    pub fn waits_for(&mut self, tid: u32, connection: u32, duration: u64, bytes: i64) -> usize {
        self.waits(tid, duration, READ, |call| transfer(call, connection, bytes))
    }

    /// Data leaving one end and arriving at the other 5 us later.
    pub fn travels(&mut self, at: u64, from: u32, to: u32, payload: u32) {
        self.segment(at, from, direction::OUT, payload);
        self.segment(at + 5 * US, to, direction::IN, payload);
    }

    /// A pure acknowledgement leaving one end, arriving at the other 5 us later.
    pub fn acknowledges(&mut self, at: u64, from: u32, to: u32) {
        self.travels(at, from, to, 0);
    }

    /// A segment; acknowledges all that went the other way so far.
    pub fn segment(&mut self, at: u64, connection: u32, way: u8, payload: u32) {
        let sequence = *self.sequences.entry((connection, way)).or_insert(u32::MAX - 100);
        let other = 1 - way;
        let acknowledged = *self.sequences.entry((connection, other)).or_insert(u32::MAX - 100);
        self.sequences.insert((connection, way), sequence.wrapping_add(payload));
        self.recording.segments.push(Segment {
            time: Nanos(at),
            connection,
            direction: way,
            flags: flags::ACK,
            sequence,
            acknowledged,
            payload,
            limit: 0,
        });
    }

    /// A request of the client's on connection 1, for which the server does something between reading it and answering.
    pub fn served(&mut self, does: impl FnOnce(&mut Fixture)) {
        let start = self.now;
        self.moves(CLIENT, 1, WRITE, 112);
        self.travels(start + 3 * US, 1, 1001, 112);
        let waiting = self.now;
        self.moves(SERVER, 1001, READ, 112);
        does(self);
        let answered = self.now;
        self.moves(SERVER, 1001, WRITE, 600);
        self.travels(answered + 3 * US, 1001, 1, 600);
        let idle = self.now;
        self.now = waiting;
        self.waits_for(CLIENT, 1, answered + 12 * US - waiting, 600);
        self.off(SERVER, idle, self.now + MS);
        self.now += MS;
    }

    pub fn timer_fires(&mut self, at: u64, connection: u32) {
        let event = event::DELAYED_ACK_FIRED;
        self.recording.tcp_events.push(TcpEvent { time: Nanos(at), connection, event, before: 0, after: 0 });
    }

    pub fn handshake(&mut self, connection: u32, tid: u32, start: u64, edit: impl FnOnce(&mut Handshake)) {
        let mut row = Handshake {
            start: Nanos(start),
            end: Nanos(self.now),
            connection,
            tid,
            version: 0x0304,
            ticket: true,
            ..Handshake::default()
        };
        edit(&mut row);
        self.recording.handshakes.push(row);
    }

    pub fn lookup(&mut self, tid: u32, at: u64, way: u8, name: &str, code: u8) {
        let message = self.recording.lookups.len() as u16 / 2;
        let (time, name) = (Nanos(at), name.to_string());
        let row = Lookup { time, tid, direction: way, message, name, record_type: 1, code, connection: 0 };
        self.recording.lookups.push(row);
    }

    pub fn path(&mut self, id: u32, path: &str) {
        self.recording.paths.push(Path { id, path: path.to_string() });
    }

    /// A stack of native functions `module!function`, innermost first; `module!function+0x40` and `module!+0x40` say where the
    /// function lies.
    pub fn stack(&mut self, stack: u32, frames: &[&str]) {
        for (depth, frame) in frames.iter().enumerate() {
            let (module, function) = frame.split_once('!').expect("module!function");
            let (function, address) = function.split_once("+0x").unwrap_or((function, "0"));
            let id = stack * 100 + depth as u32;
            self.recording.locations.push(Location {
                id,
                kind: kind::NATIVE,
                module: format!("/usr/lib/{module}"),
                function: function.to_string(),
                function_offset: u64::from_str_radix(address, 16).expect("an address"),
                is_libc: module.starts_with("libc."),
                ..Location::default()
            });
            let depth = depth as u16;
            self.recording.stacks.push(StackFrame { stack, depth, location: id, complete: true });
        }
    }

    /// A stack of script lines `file:line:function`, innermost first.
    pub fn script(&mut self, stack: u32, frames: &[&str]) {
        for (depth, frame) in frames.iter().enumerate() {
            let parts: Vec<&str> = frame.split(':').collect();
            let id = stack * 100 + depth as u32;
            self.recording.locations.push(Location {
                id,
                kind: kind::SCRIPT,
                module: parts[0].to_string(),
                file: parts[0].to_string(),
                line: parts[1].parse().expect("a line"),
                function: parts[2].to_string(),
                ..Location::default()
            });
            let depth = depth as u16;
            self.recording.stacks.push(StackFrame { stack, depth, location: id, complete: true });
        }
    }

    /// A thread on a processor in user mode for some time, sampled each millisecond in a stack.
    pub fn computes(&mut self, tid: u32, duration: u64, stack: u32) {
        for tick in 0..duration / MS {
            let time = Nanos(self.now + tick * MS + MS / 2);
            self.recording.samples.push(Sample { time, tid, pid: tid, stack, ..Sample::default() });
        }
        self.now += duration;
    }

    /// Ends the story: everything that was still there ends now.
    pub fn end(mut self) -> Recording {
        let end = Nanos(self.now + MS);
        self.recording.manifest.end = end;
        self.recording.processes.iter_mut().for_each(|row| row.end = end);
        for thread in &mut self.recording.threads {
            let off = self.recording.switches.iter().filter(|row| row.tid == thread.tid);
            let off: Nanos = off.map(|row| row.end - row.start).sum();
            thread.end = end;
            thread.on_cpu = (end - thread.start) - off;
        }
        self.recording.connections.iter_mut().for_each(|row| row.closed = row.closed.min(end));
        self.recording.sort();
        self.recording
    }
}

fn transfer(call: &mut Call, connection: u32, bytes: i64) {
    (call.connection, call.fd, call.result, call.argument_2) = (connection, connection as i32 + 2, bytes, 16_384);
}
