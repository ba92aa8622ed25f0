//! How often proving is wrong, the whole way: real programs are recorded, a suspicion is planted in the answer, and it is
//! proved as any other, with real launches, groups and shims.

use super::prove;
use crate::console::{Console, Event, Interrupt};
use crate::experiment::{Ground, Wish};
use crate::recording::{Quiet, record_quietly};
use case::{Answer, Case, Cost, Finding, Status, Verdict};
use lab::{Subject, Treatment, World};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use testing::{is_root, python, skip};

/// Takes requests of 400 bytes, works on each for as long as it is told to, and answers.
const SERVER: &str = r"
import socket, sys, time
port, works = int(sys.argv[1]), float(sys.argv[2])
listener = socket.create_server(('127.0.0.1', port))
while True:
    connection = listener.accept()[0]
    got = 0
    while data := connection.recv(4096):
        got += len(data)
        if got == 400:
            got = 0
            time.sleep(works)
            connection.sendall(b'y' * 60)
    connection.close()
";

/// Makes requests in one write each, but for the last of them, as many as it is told to split; and syncs a file in memory once
/// for each.
const CLIENT: &str = r"
import os, socket, sys
port, requests, split, path = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
connection = socket.create_connection(('127.0.0.1', port))
with open(path, 'wb') as log:
    for request in range(requests):
        if request >= requests - split:
            connection.sendall(b'x' * 200)
            connection.sendall(b'x' * 200)
        else:
            connection.sendall(b'x' * 400)
        received = 0
        while received < 60:
            received += len(connection.recv(60 - received))
        os.fsync(log.fileno())
print('done')
";

/// Nobody watches.
struct Silent;

impl Console for Silent {
    fn show(&self, _: Event<'_>) {}
    fn note(&self, _: &str) {}
    fn next(&self, longest: Duration) -> Option<Interrupt> {
        std::thread::sleep(longest);
        None
    }
    fn has_come(&self) -> bool {
        false
    }
}

/// A program to plant suspicions on.
struct Program {
    requests: u32,
    /// Requests that stall for 40 ms.
    stalls: u32,
    /// What the server takes for each, in seconds.
    works: &'static str,
}

/// Nothing is wrong with it.
const HEALTHY: Program = Program { requests: 20, stalls: 0, works: "0" };

/// What is planted: pathologies with interventions that take effect on the program.
const SUSPICIONS: [(&str, &str); 2] = [("P01", "nagle-delayed-ack"), ("P39", "sync-disk")];

/// What proving a planted suspicion comes to; none where this machine does not let us record.
fn proved(program: &Program, (id, name): (&str, &str), budget: Duration) -> Option<Answer> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("server.py"), SERVER).expect("written");
    std::fs::write(path("client.py"), CLIENT).expect("written");
    let log = tempfile::NamedTempFile::new_in("/dev/shm").expect("memory");
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port");
    let port = free.port().to_string();
    let python = python();
    let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
    let (requests, stalls) = (program.requests.to_string(), program.stalls.to_string());
    let log = log.path().display().to_string();
    let client = words(&[&python, &path("client.py"), &port, &requests, &stalls, &log]);
    let server = words(&[&python, &path("server.py"), &port, program.works]);
    let subject = Subject { client, server: Some(server), ..Subject::default() };
    let world = World::default();
    let Quiet { folder: case, recording, mut answer, .. } = recorded(&subject, &world, &folder.path().join("case"))?;
    let of_a_request = answer.wall_ns / answer.exchanges.max(1);
    answer.verdict = Verdict::Suspected;
    answer.findings = vec![Finding {
        id: id.to_string(),
        name: name.to_string(),
        status: Status::Suspected,
        cost: Cost { ns_per_exchange: of_a_request / 3, share_of_wall: 0.3, ..Cost::default() },
        ..Finding::default()
    }];
    let wish = Wish { is_wanted: true, asked: Vec::new(), budget, compares_output: true, metric: None };
    let ground = Ground { subject: &subject, world: &world, wish: &wish };
    let case = Case::open(&case).expect("the case that was just written");
    prove(&mut answer, &case, &recording, &ground, &Silent).expect("proved");
    Some(answer)
}

fn recorded(subject: &Subject, world: &World, folder: &Path) -> Option<Quiet> {
    let (treatment, longest) = (Treatment::default(), Duration::from_secs(20));
    match record_quietly("recording", subject, world, &treatment, folder, longest, &Silent) {
        Ok(recorded) => Some(recorded),
        Err(error) if is_root() => panic!("{error}"),
        Err(error) => {
            skip(&error.to_string());
            None
        }
    }
}

/// How many proofs are made: `usual`, or what `WHYSLOW_PROOFS` says.
fn proofs(usual: usize) -> usize {
    std::env::var("WHYSLOW_PROOFS").ok().and_then(|number| number.parse().ok()).unwrap_or(usual)
}

/// Programs that want all processors for as long as they are kept, or for two hours. They are nobody's children: ours would be ended
/// as what a server has left behind.
struct Neighbours(Vec<u32>);

impl Neighbours {
    fn on_each_processor() -> Neighbours {
        let all = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let script = format!("timeout 2h {} -c 'while True: pass' >/dev/null 2>&1 & echo $!", python());
        let busy = || {
            let printed = Command::new("sh").args(["-c", &script]).output().expect("sh").stdout;
            String::from_utf8_lossy(&printed).trim().parse().expect("its id")
        };
        Neighbours((0..all).map(|_| busy()).collect())
    }

    /// Whether all of them still run.
    fn are_there(&self) -> bool {
        self.0.iter().all(|pid| Path::new(&format!("/proc/{pid}")).exists())
    }
}

impl Drop for Neighbours {
    fn drop(&mut self) {
        // Whoever is gone already needs no end.
        let _ = Command::new("kill").args(self.0.iter().map(ToString::to_string)).status();
    }
}

/// That hardly any proof of a healthy program confirms what was planted.
fn expect_silence(machine: &str) {
    let (all, mut tried, mut confirmed, mut refuted, mut trials) = (proofs(250), 0, 0, 0, 0);
    for number in 0..all {
        let suspicion = SUSPICIONS[number % SUSPICIONS.len()];
        let Some(answer) = proved(&HEALTHY, suspicion, Duration::from_secs(6)) else { return };
        let finding = &answer.findings[0];
        // Where nothing took effect nothing could have been confirmed.
        let has_pairs = finding.tried.iter().any(|one| one.applied && one.trials > 0);
        tried += usize::from(has_pairs);
        confirmed += usize::from(finding.status == Status::Confirmed);
        refuted += usize::from(finding.status == Status::Refuted);
        trials += answer.proof.as_ref().map_or(0, |proof| proof.trials);
        if finding.status == Status::Confirmed || !has_pairs {
            println!("{} {:?}: {:?} {:?}", finding.name, finding.status, finding.tried, answer.proof);
        }
    }
    println!(
        "healthy, {machine}: {all} proofs, {trials} trials, {tried} with pairs, {confirmed} confirmed, {refuted} refuted"
    );
    assert!(tried * 10 >= all * 9, "nothing was tried in {} of {all}", all - tried);
    assert!(confirmed * 20 <= all, "{confirmed} of {all} confirmed");
}

#[test]
#[ignore = "half an hour: make calibrate"]
fn at_most_one_in_twenty_proofs_of_healthy_programs_confirms_anything() {
    expect_silence("calm machine");
}

#[test]
#[ignore = "half an hour: make calibrate"]
fn at_most_one_in_twenty_proofs_confirms_anything_on_a_crowded_machine() {
    let neighbours = Neighbours::on_each_processor();
    expect_silence("each processor busy");
    assert!(neighbours.are_there(), "the machine was not busy to the end");
}

/// A program of which 30 % of the time can be cured, one of 10 % and one of 5 %: stalls of some 43 ms held by Nagle's algorithm,
/// beside requests that are work.
const CURABLE: [(f64, Program); 3] = [
    (0.3, Program { requests: 10, stalls: 1, works: "0.010" }),
    (0.1, Program { requests: 36, stalls: 1, works: "0.010" }),
    (0.05, Program { requests: 76, stalls: 1, works: "0.010" }),
];

/// That cures of these shares of the time are found nearly always.
fn expect_found(machine: &str) {
    let all = proofs(20);
    let found = CURABLE.map(|(share, program)| {
        let mut confirmed = 0;
        for _ in 0..all {
            let Some(answer) = proved(&program, SUSPICIONS[0], Duration::from_secs(20)) else { return all };
            let finding = &answer.findings[0];
            confirmed += usize::from(finding.status == Status::Confirmed);
            if finding.status != Status::Confirmed {
                println!("not confirmed: {:?} {:?}", finding.tried, finding.caveats);
            }
        }
        println!("{share} of the time cured, {machine}: found in {confirmed} of {all}");
        confirmed
    });
    assert!(found.iter().all(|&confirmed| confirmed * 10 >= all * 8), "found in {found:?} of {all} each");
}

#[test]
#[ignore = "minutes: make calibrate"]
fn a_cure_of_a_twentieth_and_more_is_found() {
    expect_found("calm machine");
}

#[test]
#[ignore = "minutes: make calibrate"]
fn a_cure_of_a_twentieth_and_more_is_found_on_a_crowded_machine() {
    let neighbours = Neighbours::on_each_processor();
    expect_found("each processor busy");
    assert!(neighbours.are_there(), "the machine was not busy to the end");
}
