//! Writes a case of a given size, to time its diagnosis: `synthetic_case FOLDER EVENTS`.
//!
//! The story in it: one client asks one server over one kept connection, 100 us a request, both ends watched. Sixteen
//! rows make an exchange: calls, times off the processor and segments of both ends, in the proportions of a recording.

use case::tables::{
    Call, Connection, Location, Process, Sample, Segment, StackFrame, Switch, Thread, direction, flags, kind, reason,
    role, transport,
};
use case::{CaseError, CaseWriter, Host, Manifest, Nanos, SCHEMA, Subject};
use std::path::Path;
use std::process::ExitCode;

/// Rows that one exchange is made of.
const ROWS_PER_EXCHANGE: u64 = 16;

/// From one request to the next.
const PERIOD: u64 = 100_000;

/// When the recording begins: any time after boot.
const BEGIN: u64 = 1_000_000_000;

/// Exchanges between two CPU samples: 10 x 100 us is about what 997 samples a second come to.
const EXCHANGES_PER_SAMPLE: u64 = 10;

/// x86-64 numbers of the calls made.
/// `sendto`.
const SENDTO: u16 = 44;
const RECVFROM: u16 = 45;

const CLIENT: u32 = 100;
const SERVER: u32 = 200;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, events] = arguments.as_slice() else {
        eprintln!("usage: synthetic_case FOLDER EVENTS");
        return ExitCode::from(2);
    };
    let Ok(events) = events.parse::<u64>() else {
        eprintln!("synthetic_case: {events} is not a number");
        return ExitCode::from(2);
    };
    match write(Path::new(folder), events / ROWS_PER_EXCHANGE) {
        Ok(exchanges) => {
            println!("exchanges={exchanges}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("synthetic_case: {error}");
            ExitCode::from(2)
        }
    }
}

fn write(folder: &Path, exchanges: u64) -> Result<u64, CaseError> {
    let end = Nanos(BEGIN + exchanges * PERIOD);
    let mut case = CaseWriter::create(folder, manifest(end))?;
    case.append([process(CLIENT, "client", end), process(SERVER, "server", end)])?;
    case.append([thread(CLIENT, end, exchanges, 31_000), thread(SERVER, end, exchanges, 81_000)])?;
    case.append([connection(1, 2, CLIENT, role::CLIENT, end), connection(2, 1, SERVER, role::SERVER, end)])?;
    case.append([location(1, "ask"), location(2, "answer")])?;
    case.append([frame(1), frame(2)])?;
    for exchange in 0..exchanges {
        let start = BEGIN + exchange * PERIOD;
        case.append(calls(start))?;
        case.append(switches(start))?;
        case.append(segments(start, exchange as u32))?;
        if exchange % EXCHANGES_PER_SAMPLE == 0 {
            case.append([sample(start)])?;
        }
    }
    case.close()?;
    Ok(exchanges)
}

fn manifest(end: Nanos) -> Manifest {
    Manifest {
        schema: SCHEMA,
        whyslow: env!("CARGO_PKG_VERSION").to_string(),
        command: vec!["client".to_string()],
        server: vec!["server".to_string()],
        start: Nanos(BEGIN),
        end,
        subject: Subject { pid: CLIENT, exit: Some(0), signal: None },
        server_pid: SERVER,
        host: Host { processors: 2, ..Host::default() },
        sampling_hertz: 997,
        ..Manifest::default()
    }
}

fn process(pid: u32, role: &str, end: Nanos) -> Process {
    let name = role.to_string();
    let executable = format!("/usr/bin/{role}");
    Process {
        pid,
        parent: 1,
        start: Nanos(BEGIN),
        end,
        executable,
        command: name.clone(),
        role: name,
        ..Process::default()
    }
}

/// `busy` is what an exchange leaves of its period once the times off the processor are taken away.
fn thread(pid: u32, end: Nanos, exchanges: u64, busy: u64) -> Thread {
    Thread {
        tid: pid,
        pid,
        start: Nanos(BEGIN),
        end,
        name: "main".to_string(),
        on_cpu: Nanos(busy * exchanges),
        calls: 3 * exchanges,
    }
}

fn connection(id: u32, peer: u32, pid: u32, role: u8, end: Nanos) -> Connection {
    let (local_port, remote_port) = if id == 1 { (40_000, 8_000) } else { (8_000, 40_000) };
    Connection {
        id,
        pid,
        network_namespace: 1,
        transport: transport::TCP,
        role,
        local_address: "127.0.0.1".to_string(),
        local_port,
        remote_address: "127.0.0.1".to_string(),
        remote_port,
        opened: Nanos(BEGIN),
        established: Nanos(BEGIN),
        closed: end,
        peer,
        mss: 65_483,
        srtt: Nanos(20_000),
        nodelay: true,
    }
}

fn location(id: u32, function: &str) -> Location {
    let module = "/usr/bin/program".to_string();
    Location { id, kind: kind::NATIVE, module, function: function.to_string(), ..Location::default() }
}

fn frame(stack: u32) -> StackFrame {
    StackFrame { stack, depth: 0, location: stack, complete: true }
}

/// The client sends at 0 and waits until 80 us for the answer; the server wakes at 20, answers at 60, waits again.
fn calls(start: u64) -> [Call; 6] {
    let call = |tid, number, from, duration, blocked, connection| Call {
        start: Nanos(start + from),
        duration: Nanos(duration),
        blocked: Nanos(blocked),
        tid,
        pid: tid,
        number,
        fd: 3,
        result: 64,
        argument_2: if number == RECVFROM { 4096 } else { 64 },
        connection,
        stack: connection,
        finished: true,
        ..Call::default()
    };
    let retry = |tid, from, connection| Call { result: -11, ..call(tid, RECVFROM, from, 300, 0, connection) };
    [
        call(CLIENT, SENDTO, 0, 8_000, 0, 1),
        retry(CLIENT, 9_000, 1),
        call(CLIENT, RECVFROM, 10_000, 70_000, 66_000, 1),
        call(SERVER, RECVFROM, 0, 20_000, 16_000, 2),
        call(SERVER, SENDTO, 60_000, 8_000, 0, 2),
        retry(SERVER, 70_000, 2),
    ]
}

fn switches(start: u64) -> [Switch; 4] {
    let switch = |tid, waker, from, until, why| Switch {
        start: Nanos(start + from),
        runnable: Nanos(start + if why == reason::PREEMPTED { from } else { until - 2_000 }),
        end: Nanos(start + until),
        tid,
        waker,
        reason: why,
    };
    [
        switch(CLIENT, SERVER, 11_000, 78_000, reason::BLOCKED),
        switch(CLIENT, 0, 82_000, 84_000, reason::PREEMPTED),
        switch(SERVER, CLIENT, 1_000, 18_000, reason::BLOCKED),
        switch(SERVER, 0, 30_000, 32_000, reason::PREEMPTED),
    ]
}

fn segments(start: u64, exchange: u32) -> [Segment; 6] {
    let moved = exchange.wrapping_mul(64);
    let segment = |connection, way, at, payload: u32, sent: u32, received: u32| Segment {
        time: Nanos(start + at),
        connection,
        direction: way,
        flags: flags::ACK,
        sequence: moved.wrapping_add(sent),
        acknowledged: moved.wrapping_add(received),
        payload,
        limit: 0,
    };
    [
        segment(1, direction::OUT, 3_000, 64, 0, 0),
        segment(2, direction::IN, 5_000, 64, 0, 0),
        segment(2, direction::OUT, 63_000, 64, 0, 64),
        segment(1, direction::IN, 65_000, 64, 0, 64),
        segment(1, direction::OUT, 90_000, 0, 64, 64),
        segment(2, direction::IN, 92_000, 0, 64, 64),
    ]
}

fn sample(start: u64) -> Sample {
    Sample { time: Nanos(start + 85_000), tid: CLIENT, pid: CLIENT, stack: 1, ..Sample::default() }
}
