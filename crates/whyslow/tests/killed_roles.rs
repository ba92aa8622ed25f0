//! One of the roles of a run is killed at a random moment: the command, the broker or the resolver, while it records or proves. The
//! program that is watched ends as it would have ended, and after `whyslow undo` nothing is left.

use crate::left::{Left, Marked, name};
use crate::stage::{Background, Stage, free_port, wait_until};
use crate::undo::{Moments, ended, with_own_journals};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use testing::{beside_others, budget, is_root, stretched};

/// Kills of each role.
const KILLS: u32 = 100;
/// The latest moment of a kill: the recording takes a second and a half, and trials follow.
const LATEST_KILL: Duration = Duration::from_millis(3_500);
/// A run whose broker or resolver is gone has ended by then.
const LONGEST_END: Duration = Duration::from_mins(1);

/// Seconds into which the trials of one cause fit.
const ENOUGH: u32 = 60;

/// A client that stalls on every request and writes down when it begins and when it ends; its server is none of the run.
const CLIENT: &str = r"
import os, socket, sys
def note(word):
    with open(sys.argv[2], 'a') as log: log.write(f'{word} {os.getpid()}\n')
note('begun')
connection = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
for _ in range(30):
    connection.sendall(b'x' * 200)
    connection.sendall(b'y' * 200)
    received = 0
    while received < 100: received += len(connection.recv(100 - received))
note('ended')
";
const SERVER: &str = r"
import socket, sys, threading
def serve(connection):
    received = 0
    while data := connection.recv(4096):
        received += len(data)
        if received == 400: received = connection.sendall(b'z' * 100) or 0
listener = socket.create_server(('127.0.0.1', int(sys.argv[1])))
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
";

/// A role, by the process that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Command,
    Broker,
    Resolver,
}

impl Role {
    /// Its process in a run; none where it has not begun, or has done its work.
    fn of(self, command: u32) -> Option<u32> {
        let wanted = match self {
            Role::Command => return Some(command),
            Role::Broker => "whyslow-broker",
            Role::Resolver => "whyslow-resolve",
        };
        let is_it = |pid: &u32| name(*pid) == wanted;
        record::descendants(command).into_iter().find(is_it)
    }
}

/// What kills have met.
#[derive(Debug, Default)]
struct Met {
    kills: u32,
    while_the_client_ran: u32,
    while_trials_ran: u32,
    with_something_to_undo: u32,
}

#[test]
#[ignore = "long: make stories"]
fn after_a_hundred_kills_of_each_role_the_program_is_unharmed_and_undo_leaves_nothing() {
    expect_unharmed(KILLS);
}

#[test]
fn whichever_role_is_killed_the_program_is_unharmed_and_undo_leaves_nothing() {
    expect_unharmed(1);
}

fn expect_unharmed(kills: u32) {
    let _turn = beside_others();
    let stage = Stage::new();
    if !is_root() || !stage.can_record() {
        return;
    }
    // For whoever calls sudo.
    fs::set_permissions(stage.path(""), fs::Permissions::from_mode(0o777)).expect("anybody's");
    fs::write(stage.path("client.py"), CLIENT).expect("written");
    fs::write(stage.path("server.py"), SERVER).expect("written");
    let port = free_port().to_string();
    let mut server = Command::new("python3");
    let server = server.arg(stage.path("server.py")).arg(&port).stdout(Stdio::null()).spawn().expect("python3");
    let _server = Background(server);
    wait_until("the server listens", || std::net::TcpStream::connect(format!("127.0.0.1:{port}")).is_ok());
    let mut moments = Moments::new(LATEST_KILL);
    for role in [Role::Command, Role::Broker, Role::Resolver] {
        let mut met = Met::default();
        for number in 0..kills {
            let moment = if kills == 1 { Duration::from_millis(500) } else { moments.next() };
            kill_one(&stage, &port, role, &format!("{role:?}-{number}"), moment, &mut met);
        }
        println!("{role:?}: {met:?} of {kills}");
        // The resolver is gone once what was recorded has its names.
        let least = if role == Role::Resolver { kills.div_ceil(5) } else { kills.div_ceil(2) };
        assert!(met.kills >= least, "{role:?}: {met:?}: it was hardly ever there");
    }
}

fn kill_one(stage: &Stage, port: &str, role: Role, case: &str, moment: Duration, met: &mut Met) {
    let log = stage.path(&format!("{case}.log"));
    let (client, log_path, seconds) =
        (stage.path("client.py").display().to_string(), log.display().to_string(), budget(ENOUGH));
    let words = ["run", "--budget", &seconds, "-o", case, "--", "python3", &client, port, &log_path];
    let mark = Marked::new();
    let mut command = with_own_journals(stage, &words);
    // Every second of them for a user who called sudo.
    if case.ends_with(['1', '3', '5', '7', '9']) {
        command.env("SUDO_UID", "65534").env("SUDO_GID", "65534");
    }
    mark.on(command.stdout(Stdio::null()).stderr(fs::File::create(stage.path("said")).expect("made")));
    let mut run = Background(command.spawn().expect("whyslow"));
    let pid = run.0.id();
    let noted = |word: &str| {
        let text = fs::read_to_string(&log).unwrap_or_default();
        text.lines().filter_map(|line| line.strip_prefix(word)?.trim().parse::<u32>().ok()).collect::<Vec<_>>()
    };
    // One in five comes while it sets up, the others from when the client runs.
    let deadline = Instant::now() + stretched(LONGEST_END);
    while !case.ends_with(['3', '7']) && noted("begun").is_empty() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(2));
    }
    std::thread::sleep(moment);
    let (before, finished) = (noted("begun"), noted("ended"));
    if let Some(victim) = role.of(pid)
        && kill(Pid::from_raw(victim as i32), Signal::SIGKILL).is_ok()
    {
        met.kills += 1;
        met.while_the_client_ran += u32::from(before.len() == 1 && finished.is_empty());
        met.while_trials_ran += u32::from(before.len() > 1);
    }
    let what = format!("{case} after {moment:?}");
    if role == Role::Broker {
        while run.0.try_wait().expect("waited").is_none() {
            assert!(Instant::now() < deadline, "{what}: the run hangs without its broker");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    // The first client is the one that was watched; those of trials may end with the run.
    if let Some(watched) = noted("begun").first() {
        wait_until(&format!("{what}: the program that was watched comes to its end"), || {
            noted("ended").contains(watched)
        });
    }
    drop(run);
    let said = fs::read_to_string(stage.path("said")).expect("there");
    assert!(!said.contains("panicked"), "{what}: {said}");
    let undone = ended(stage, &["undo"]);
    assert_eq!(undone.code, 0, "{what}: {undone:?}");
    met.with_something_to_undo += u32::from(!undone.stdout.contains("Nothing to clean up"));
    let left = Left::by(pid, &mark, stage);
    assert!(left.is_nothing(), "{what}: {undone:?} and yet {left:?}");
}
