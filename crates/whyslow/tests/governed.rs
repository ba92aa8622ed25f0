//! Where recording would cost more than it may, rows are made in windows; sums are whole, and what is found is true.

use crate::attached::unexplained;
use crate::stage::{Stage, free_port};
use case::facts::ThreadMeasure;
use case::{Answer, Case, Recording, syscall};
use testing::{beside_others, is_root};

/// Reads, and as many writes: some seconds of them.
const BLOCKS: u64 = 600_000;

/// Runs something watched, within a budget in percent; none where this machine does not let us record.
fn ran(stage: &Stage, overhead: &str, options: &[&str], command: &[&str]) -> Option<(Answer, Recording)> {
    let _turn = beside_others();
    if !is_root() || !stage.can_record() {
        return None;
    }
    let recording = ["run", "--json", "--no-prove", "-o", "case", "--overhead", overhead];
    let ran = stage.run(&[&recording[..], options, &["--"], command].concat()).answered();
    let answer = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let case = Case::open(&stage.path("case")).expect("a case");
    Some((answer, Recording::load(&case).expect("loaded")))
}

/// Threads whose rows and thinned-out rows together are fewer than the scheduler counted.
fn lacking(answer: &Answer) -> Vec<ThreadMeasure> {
    let facts = answer.ledger.reconciled.as_ref().expect("sums");
    let counts = |measure: &ThreadMeasure| matches!(measure, ThreadMeasure::Calls | ThreadMeasure::Waits);
    facts.deviations.iter().map(|deviation| deviation.measure).filter(counts).collect()
}

#[test]
fn rows_are_thinned_out_to_stay_within_the_overhead_and_sums_are_whole() {
    let stage = Stage::new();
    let count = format!("count={BLOCKS}");
    let copy = ["dd", "if=/dev/zero", "of=/dev/null", "bs=1", "status=none", &count];
    let Some((answer, recording)) = ran(&stage, "1", &[], &copy) else { return };
    let run = answer.whole_run.clone().expect("a storm costs more than one percent");
    assert!(run.windows >= 1 && run.rows_ns < run.wall_ns, "{run:?}");
    let written = run.most_time.iter().find(|kind| kind.call == "write").expect("writes");
    assert_eq!((written.calls, written.bytes), (BLOCKS, BLOCKS));
    // Most were not timed: they count with what those with rows took.
    let seen = recording.calls.iter().filter(|call| call.finished && syscall::name(call.number) == "write");
    let (seen, took) = seen.fold((0, 0), |(seen, took), call| (seen + 1, took + call.duration.0));
    let ratio = (written.time_ns as f64 / BLOCKS as f64) / (took as f64 / f64::from(seen));
    assert!((0.5..2.0).contains(&ratio), "{ratio}: {took} ns in {seen} rows; {written:?}");
    let (rows, thinned) =
        (run.calls_with_rows, recording.scheduler_sums.iter().map(|sum| sum.thinned_calls).sum::<u64>());
    assert!(rows > 1_000 && thinned > rows, "{rows} {thinned}");
    // Thinned out is not lost: nothing is missing that was not counted, and no account is doubted for it.
    assert_eq!(recording.losses.iter().filter(|loss| loss.table == "calls").count(), 0, "{:?}", recording.losses);
    assert_eq!(rows + thinned, run.calls);
    assert_eq!(lacking(&answer), []);
    assert!(unexplained(&answer) < 0.05, "{:?}", answer.ledger);
    // The ledger is about the time with rows: but for its ends, all of it.
    assert!(answer.wall_ns <= run.rows_ns && answer.wall_ns * 2 > run.rows_ns, "{} {run:?}", answer.wall_ns);
    let within =
        |time: u64| !recording.thinned.iter().any(|gap| gap.start.0 + 1_000_000 < time && time + 1_000_000 < gap.end.0);
    let strays = recording.samples.iter().filter(|sample| !within(sample.time.0)).count();
    assert_eq!(strays, 0);
    let cost = run.cost.expect("measured");
    assert!(cost.on_their_threads_ns > 0 && cost.cpu_ns >= cost.on_their_threads_ns, "{cost:?}");
    let text = stage.run(&["report", "case"]).answered().stdout;
    assert!(text.contains("They are a sample") && text.contains("write: 600,000 calls"), "{text}");
    assert!(answer.losses.events == 0 && !text.contains("lower bounds"), "{text}");
}

#[test]
fn what_is_quiet_has_rows_of_everything() {
    let stage = Stage::new();
    let Some((answer, recording)) = ran(&stage, "20", &[], &["sleep", "0.6"]) else { return };
    assert_eq!((answer.whole_run, recording.thinned), (None, vec![]));
}

/// Answers each 200 bytes with 50.
const SERVER: &str = "
import socket, sys
listener = socket.create_server(('127.0.0.1', int(sys.argv[1])))
connection = listener.accept()[0]
got = 0
while data := connection.recv(1000):
    got += len(data)
    if got >= 200:
        got -= 200
        connection.sendall(b'x' * 50)
";

/// Asks in two writes, each time waiting for Nagle's algorithm, while a child makes all the calls it can.
const CLIENT: &str = "
import socket, subprocess, sys
storm = subprocess.Popen(['dd', 'if=/dev/zero', 'of=/dev/null', 'bs=1', 'status=none'])
connection = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
for _ in range(110):
    connection.sendall(b'y' * 100)
    connection.sendall(b'z' * 100)
    assert len(connection.recv(100)) == 50
storm.kill()
";

#[test]
fn what_ails_a_connection_is_found_in_windows_of_a_storm() {
    let stage = Stage::new();
    let port = free_port().to_string();
    std::fs::write(stage.path("server.py"), SERVER).expect("written");
    let server = format!("python3 server.py {port}");
    let asks = ["python3", "-c", CLIENT, &port];
    let Some((answer, recording)) = ran(&stage, "40", &["--server", &server], &asks) else { return };
    let run = answer.whole_run.clone().expect("a storm costs more");
    assert!(run.windows >= 2 && run.rows_ns < run.wall_ns, "{run:?}");
    assert!((5..110).contains(&answer.exchanges), "{}", answer.exchanges);
    let finding = answer.findings.iter().find(|finding| finding.name == "nagle-delayed-ack");
    let cost = &finding.unwrap_or_else(|| panic!("{:#?}", answer.findings)).cost;
    // Every exchange that was seen is whole: each waited for one delayed acknowledgement, but for a connection's first ones.
    assert!(cost.share_of_wall > 0.5 && (30_000_000..90_000_000).contains(&cost.ns_per_exchange), "{cost:?}");
    assert!(cost.affected * 4 >= answer.exchanges * 3, "{cost:?}");
    assert_eq!(lacking(&answer), []);
    assert!(recording.thinned.len() + 1 >= run.windows as usize, "{:?}", recording.thinned);
    assert!(unexplained(&answer) < 0.05, "{:?}", answer.ledger);
}
