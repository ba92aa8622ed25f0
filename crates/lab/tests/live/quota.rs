//! Lifting the quota of a program that runs, on a real kernel. Needs root; without it each test says so and passes.

use crate::fixture::{is_root, wait_until};
use crate::running::{Ours, alone, rates, try_on};
use case::Status;
use lab::Journal;
use record::Role;
use std::path::{Path, PathBuf};

/// A server that works for 5 ms of CPU time an answer, and its client, in one program.
const WORKING: &str = "
import socket, time, threading
listener = socket.create_server(('127.0.0.1', 0))
client = socket.create_connection(listener.getsockname())
server, _ = listener.accept()
print(1, flush=True)
def work():
    end = time.thread_time() + 0.005
    while time.thread_time() < end:
        pass
while True:
    client.send(b'question')
    server.recv(8)
    work()
    server.send(b'answer')
    client.recv(8)
";

/// A group with a quota for one process, removed when it is dropped.
struct Limited(PathBuf);

impl Limited {
    /// None where no hierarchy of version 1 can be written.
    fn around(pid: u32, name: &str) -> Option<Limited> {
        let folder = Path::new("/sys/fs/cgroup/cpu").join(format!("live-test-{name}-{pid}"));
        if std::fs::create_dir(&folder).is_err() {
            testing::does_not_apply("no hierarchy of version 1 limits CPU time here");
            return None;
        }
        std::fs::write(folder.join("cpu.cfs_quota_us"), "20000").expect("limited");
        std::fs::write(folder.join("cgroup.procs"), pid.to_string()).expect("moved");
        Some(Limited(folder))
    }

    fn quota(&self) -> String {
        std::fs::read_to_string(self.0.join("cpu.cfs_quota_us")).expect("read").trim().to_string()
    }
}

impl Drop for Limited {
    fn drop(&mut self) {
        wait_until("the group can be removed", || std::fs::remove_dir(&self.0).is_ok());
    }
}

#[test]
fn a_quota_of_the_programs_own_group_is_lifted_and_put_back() {
    let _alone = alone();
    if !is_root() {
        return;
    }
    let journal = Journal::open().expect("a journal");
    let mut working = Ours::python(WORKING, &[]);
    working.first_line();
    let Some(limited) = Limited::around(working.pid(), "own") else { return };
    let live = try_on("P29", &working, Role::Client, &journal);
    let (status, quota) = (live.tried.status, limited.quota());
    let (off, on) = (rates(&live, false), rates(&live, true));
    drop(working);
    drop(limited);
    assert_eq!((status, quota.as_str()), (Status::Confirmed, "20000"), "{live:?}");
    assert!(off.iter().all(|rate| on.iter().all(|other| other > rate)), "{off:?} {on:?}");
    assert_eq!(journal.open_entries(), 0);
}

#[test]
fn a_quota_that_others_live_under_or_that_is_not_there_is_left_alone() {
    let _alone = alone();
    if !is_root() {
        return;
    }
    let journal = Journal::open().expect("a journal");
    let (mut working, mut other) = (Ours::python(WORKING, &[]), Ours::python(WORKING, &[]));
    working.first_line();
    other.first_line();
    let unlimited = try_on("P29", &other, Role::Client, &journal);
    assert!(unlimited.tried.problem.starts_with("no visible control group"), "{}", unlimited.tried.problem);
    let Some(limited) = Limited::around(working.pid(), "shared") else { return };
    std::fs::write(limited.0.join("cgroup.procs"), other.pid().to_string()).expect("moved");
    let shared = try_on("P29", &working, Role::Client, &journal);
    let quota = limited.quota();
    drop((working, other));
    drop(limited);
    assert!(shared.tried.problem.ends_with("also holds other processes"), "{}", shared.tried.problem);
    assert!(!shared.tried.applied && shared.switched.windows.is_empty());
    assert_eq!(quota, "20000");
}
