//! A recording made by hand, for the tests of exports: a client and a server that were both watched.

use case::tables::{
    Call, Connection, Location, Process, Sample, Segment, StackFrame, Thread, direction, flags, kind, role, transport,
};
use case::{Manifest, Nanos, Recording};

/// What anything from outside can be called.
pub(crate) const HOSTILE: &str = "</script><img src=x onerror=alert(1)>|`*[x](javascript:y)\u{1b}[31m\u{202e}";

/// When recording began.
pub(crate) const START: u64 = 5_000_000_000;

/// One end of a connection between 10.0.0.1 (odd numbers) and 10.0.0.2 (even numbers).
pub(crate) fn connection(id: u32) -> Connection {
    let is_client = id % 2 == 1;
    let client = ("10.0.0.1".to_string(), 40_000);
    let server = ("10.0.0.2".to_string(), 443);
    let (local, remote) = if is_client { (client, server) } else { (server, client) };
    Connection {
        id,
        pid: id,
        network_namespace: u64::from(7 + id % 2),
        transport: transport::TCP,
        role: if is_client { role::CLIENT } else { role::SERVER },
        local_address: local.0,
        local_port: local.1,
        remote_address: remote.0,
        remote_port: remote.1,
        opened: Nanos(START),
        established: Nanos(START),
        closed: Nanos(START + 1_000_000),
        peer: if is_client { id + 1 } else { id - 1 },
        mss: 1_448,
        srtt: Nanos(0),
        nodelay: false,
    }
}

/// A segment with 100 bytes that leaves the end `connection`.
pub(crate) fn segment(connection: u32, after: u64) -> Segment {
    Segment {
        time: Nanos(START + after),
        connection,
        direction: direction::OUT,
        flags: flags::ACK,
        sequence: 1_000,
        acknowledged: 2_000,
        payload: 100,
        limit: 0,
    }
}

fn process(pid: u32, role: &str, name: &str) -> Process {
    Process {
        pid,
        parent: 0,
        start: Nanos(START),
        end: Nanos(START + 1_000_000),
        executable: format!("/usr/bin/{name}"),
        command: name.into(),
        role: role.into(),
        runtime: String::new(),
        network_namespace: 7,
        switches: String::new(),
        allowed_processors: 2,
        uid: 0,
        exit: 0,
    }
}

fn thread(tid: u32) -> Thread {
    let (start, end) = (Nanos(START), Nanos(START + 1_000_000));
    Thread { tid, pid: tid, start, end, name: format!("thread {HOSTILE}"), on_cpu: Nanos(1), calls: 1 }
}

fn location(id: u32, kind: u8, module: &str, function: &str, line: u32) -> Location {
    Location {
        id,
        kind,
        module: module.into(),
        function: function.into(),
        function_offset: 0,
        offset: u64::from(id) * 16,
        file: if line > 0 { module.into() } else { String::new() },
        line,
        is_libc: false,
        ..Location::default()
    }
}

fn sample(tid: u32, after: u64, script_stack: u32) -> Sample {
    Sample {
        time: Nanos(START + after),
        tid,
        pid: tid,
        kernel: false,
        call_plus_one: 0,
        stack: 1,
        kernel_stack: 0,
        script_stack,
    }
}

/// A call that blocked for 40 of its 50 us.
pub(crate) fn call(tid: u32, after: u64, number: u16) -> Call {
    Call {
        start: Nanos(START + after),
        duration: Nanos(50_000),
        blocked: Nanos(40_000),
        tid,
        pid: tid,
        number,
        fd: 3,
        result: 100,
        argument_1: 0,
        argument_2: 100,
        argument_3: 0,
        connection: tid,
        path: 0,
        stack: 1,
        script_stack: 2,
        content: 0,
        finished: true,
    }
}

/// The recording: a client with a script, a server, four segments and three samples.
pub(crate) fn recording() -> Recording {
    let frame = |stack, depth, location| StackFrame { stack, depth, location, complete: true };
    let arrived = |connection, after| Segment { direction: direction::IN, ..segment(connection, after) };
    let mut recording = Recording {
        manifest: Manifest {
            whyslow: "0.1.0".into(),
            command: vec!["python3".into(), HOSTILE.into()],
            started_unix_seconds: 1_700_000_000,
            start: Nanos(START),
            end: Nanos(START + 1_000_000),
            sampling_hertz: 1_000,
            ..Manifest::default()
        },
        processes: vec![process(1, "client", "python3"), process(2, "server", HOSTILE)],
        threads: vec![thread(1), thread(2)],
        calls: vec![call(1, 90_000, 1), call(2, 200_000, 0)],
        samples: vec![sample(1, 10_000, 2), sample(1, 20_000, 2), sample(2, 15_000, 0)],
        stacks: vec![frame(1, 0, 1), frame(1, 1, 2), frame(1, 2, 3), frame(2, 0, 4), frame(2, 1, 5)],
        locations: vec![
            location(1, kind::NATIVE, "/usr/lib/libx.so", "encode", 0),
            location(2, kind::NATIVE, "/usr/lib/libpython3.so", "_PyEval_EvalFrameDefault", 0),
            location(3, kind::NATIVE, "/usr/bin/python3", "main", 0),
            location(4, kind::SCRIPT, "/srv/client.py", "post", 26),
            location(5, kind::SCRIPT, "/srv/client.py", HOSTILE, 39),
        ],
        connections: vec![connection(1), connection(2)],
        segments: vec![segment(1, 100_000), arrived(2, 100_500), segment(2, 300_000), arrived(1, 300_600)],
        ..Recording::default()
    };
    recording.sort();
    recording
}

/// What a diagnosis would know of it.
pub(crate) fn known() -> super::Known {
    let span = super::Span {
        connection: 1,
        start: Nanos(START + 90_000),
        end: Nanos(START + 301_000),
        bytes: 200,
        answered: true,
    };
    let name = |number: u16| if number == 1 { "write" } else { "read" }.to_string();
    super::Known { exchanges: vec![span], call_name: name }
}
