//! What is left behind, after every way in which a run can end: nothing, at the latest after `whyslow undo`.
//!
//! Needs root, without which there are neither namespaces nor control groups to leave; then each test says so and passes.

use crate::left::{Left, Marked, run_state};
use crate::stage::{Background, Ran, Stage, free_port, processes_with, wait_until};
use nix::sys::signal::Signal;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use testing::{beside_others, budget, is_root, stretched};

/// How often a run is killed.
const KILLS: u32 = 6;
/// The latest moment of a kill: by then the lab is in the midst of its trials.
const LATEST_KILL: Duration = Duration::from_millis(2_600);
/// Half of the runs whose kill comes after this have something to undo; it takes a run this long to make its groups.
const SETTING_UP: Duration = Duration::from_millis(250);

/// Seconds into which the trials of one cause fit.
const ENOUGH: u32 = 60;

/// A client that stalls on every request, since it writes in two parts and then waits, and a server that leaves the
/// process it was started as.
fn stalled_pair(stage: &Stage) -> [String; 4] {
    let port = free_port();
    let client = "import socket, sys\n\
                  connection = socket.create_connection((sys.argv[1], int(sys.argv[2])))\n\
                  for _ in range(8):\n    \
                      connection.sendall(b'x' * 200)\n    \
                      connection.sendall(b'y' * 200)\n    \
                      received = 0\n    \
                      while received < 100: received += len(connection.recv(100 - received))\n";
    let server = "import os, socket, sys\n\
                  if os.fork(): sys.exit()\n\
                  os.setsid()\n\
                  listener = socket.create_server((sys.argv[1], int(sys.argv[2])))\n\
                  while True:\n    \
                      connection = listener.accept()[0]\n    \
                      received = 0\n    \
                      while data := connection.recv(4096):\n        \
                          received += len(data)\n        \
                          if received == 400: received = connection.sendall(b'z' * 100) or 0\n    \
                      connection.close()\n";
    std::fs::write(stage.path("client.py"), client).expect("written");
    std::fs::write(stage.path("server.py"), server).expect("written");
    let serve = format!("python3 {} {{server}} {port}", stage.path("server.py").display());
    [serve, stage.path("client.py").display().to_string(), "{server}".to_string(), port.to_string()]
}

fn arguments<'a>(pair: &'a [String; 4], budget: &'a str, case: &'a str) -> Vec<&'a str> {
    let [serve, client, address, port] = pair;
    let ours = ["run", "--budget", budget, "--link", "mtu=1500,rate=100mbit", "--server", serve, "-o", case];
    [&ours[..], &["--", "python3", client, address, port]].concat()
}

/// The binary with journals of its own: any other run on this machine would repair what these leave.
pub fn with_own_journals(stage: &Stage, arguments: &[&str]) -> Command {
    std::fs::create_dir_all("/run/whyslow")
        .and_then(|()| std::fs::create_dir_all(stage.path("journals")))
        .expect("made");
    let usual = stage.whyslow(arguments);
    let script = "mount --bind \"$0\" /run/whyslow && exec \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", script]).arg(stage.path("journals")).arg(usual.get_program());
    command.args(usual.get_args()).current_dir(stage.path(".")).stdin(Stdio::null());
    for (name, value) in usual.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

pub fn ended(stage: &Stage, arguments: &[&str]) -> Ran {
    Ran::from(with_own_journals(stage, arguments).output().expect("whyslow"))
}

/// Numbers that differ from run to run; the seed is printed, so that a failure can be repeated.
pub struct Moments {
    state: u64,
    latest: Duration,
}

impl Moments {
    /// Moments before the latest one.
    pub fn new(latest: Duration) -> Moments {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a time");
        let seed = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(now.as_micros() as u64);
        println!("SEED={seed}");
        Moments { state: seed, latest }
    }

    /// The next moment, any before the latest being as likely as any other (Knuth's MMIX generator, its high bits).
    pub fn next(&mut self) -> Duration {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.latest.mul_f64((self.state >> 33) as f64 / f64::from(1_u32 << 31))
    }
}

#[test]
fn after_kills_at_random_moments_undo_leaves_all_as_it_was() {
    expect_repaired(KILLS);
}

#[test]
#[ignore = "long: make stories"]
fn after_fifty_kills_at_random_moments_undo_leaves_all_as_it_was() {
    expect_repaired(50);
}

fn expect_repaired(kills: u32) {
    let _turn = beside_others();
    let stage = Stage::new();
    if !is_root() || !stage.can_record() {
        return;
    }
    let pair = stalled_pair(&stage);
    let before = run_state();
    let mut moments = Moments::new(LATEST_KILL);
    let (mut late, mut repaired, mut proving) = (0, 0, 0);
    // On a crowded machine trials begin late: where no kill met one, more follow, at moments that are later by and by.
    for kill in 0..4 * kills {
        if kill >= kills && proving > 0 {
            break;
        }
        let moment = moments.next() * (1 + kill / kills);
        let case = format!("case-{kill}");
        let mark = Marked::new();
        let mut command = with_own_journals(&stage, &arguments(&pair, &budget(ENOUGH), &case));
        mark.on(command.stdout(Stdio::null()).stderr(Stdio::null()));
        let run = Background(command.spawn().expect("whyslow"));
        let begun = Instant::now();
        std::thread::sleep(stretched(moment).saturating_sub(begun.elapsed()));
        let pid = run.0.id();
        drop(run);
        let undone = ended(&stage, &["undo"]);
        assert_eq!(undone.code, 0, "kill {kill} after {moment:?}: {undone:?}");
        let left = Left::by(pid, &mark, &stage);
        assert!(left.is_nothing(), "kill {kill} after {moment:?}: {undone:?} and yet {left:?}");
        assert_eq!(run_state(), before, "kill {kill} after {moment:?}");
        late += u32::from(moment > SETTING_UP);
        repaired += u32::from(moment > SETTING_UP && undone.stdout.contains("removed the control group"));
        proving += u32::from(undone.stdout.contains("removed the folder"));
    }
    println!(
        "{kills} kills or more, {late} after the start, {repaired} of these with something to repair; {proving} in trials"
    );
    assert!(repaired * 2 >= late, "{repaired} of {late}: the kills came at moments at which there is nothing to undo");
    assert!(proving > 0, "no kill came while the lab was at work");
}

#[test]
fn the_next_run_repairs_by_itself_but_leaves_a_watched_program_alone() {
    let _turn = beside_others();
    let stage = Stage::new();
    if !is_root() || !stage.can_record() {
        return;
    }
    let mark = Marked::new();
    let mut command = with_own_journals(&stage, &["run", "--", "sleep", "4731"]);
    mark.on(&mut command);
    let run = Background(command.stdout(Stdio::null()).spawn().expect("whyslow"));
    let pid = run.0.id();
    let clients = || processes_with("sleep 4731").into_iter().filter(|found| *found != pid).collect::<Vec<_>>();
    wait_until("the program runs", || clients().iter().any(|pid| crate::left::name(*pid) == "sleep"));
    drop(run);
    let client = clients()[0];
    let next = ended(&stage, &["run", "--", "true"]);
    assert!(next.stderr.contains(&format!("process {client} (sleep)")), "{next:?}");
    assert!(next.stderr.contains("whyslow undo"), "{next:?}");
    assert_eq!(clients(), [client], "it is left alone");
    let undone = ended(&stage, &["undo"]);
    assert!(undone.stdout.contains(&format!("ended process {client} (sleep)")), "{undone:?}");
    assert!(Left::by(pid, &mark, &stage).is_nothing());
}

#[test]
fn the_next_run_ends_the_server_of_one_that_was_killed() {
    let _turn = beside_others();
    let stage = Stage::new();
    if !is_root() || !stage.can_record() {
        return;
    }
    let pair = stalled_pair(&stage);
    let mark = Marked::new();
    let mut command = with_own_journals(&stage, &["run", "--server", &pair[0], "--", "sh", "-c", "sleep 0.5"]);
    mark.on(command.stdout(Stdio::null()).stderr(Stdio::null()));
    let run = Background(command.spawn().expect("whyslow"));
    let pid = run.0.id();
    wait_until("the server's daemon and the client run", || mark.named("sleep").len() == 1);
    drop(run);
    wait_until("the client has ended", || mark.named("sleep").is_empty());
    assert_eq!(mark.named("python3").len(), 1, "the daemon has left the process that is tethered to us");
    let next = ended(&stage, &["run", "--", "true"]);
    assert!(next.stderr.contains("ended process") && next.stderr.contains("(python3)"), "{next:?}");
    assert!(Left::by(pid, &mark, &stage).is_nothing());
}

#[test]
fn success_error_and_interruption_leave_nothing_to_undo() {
    expect_nothing_left(&[900]);
}

#[test]
#[ignore = "long: make stories"]
fn interruption_at_whatever_moment_leaves_nothing_to_undo() {
    expect_nothing_left(&[100, 400, 900, 2_000, 4_000]);
}

/// After success, after an error, and after Ctrl-C at so many milliseconds.
fn expect_nothing_left(interrupted: &[u64]) {
    let _turn = beside_others();
    let stage = Stage::new();
    if !is_root() || !stage.can_record() {
        return;
    }
    let pair = stalled_pair(&stage);
    let leaves_nothing = |what: &str, command: &mut Command, signal: Option<Duration>| {
        let mark = Marked::new();
        mark.on(command.stdout(Stdio::null()).stderr(Stdio::null()));
        let mut run = Background(command.spawn().expect("whyslow"));
        if let Some(after) = signal {
            std::thread::sleep(stretched(after));
            run.signal(Signal::SIGINT);
        }
        run.0.wait().expect("ended");
        let left = Left::by(run.0.id(), &mark, &stage);
        assert!(left.is_nothing(), "{what}: {left:?}");
    };
    leaves_nothing("success", &mut with_own_journals(&stage, &arguments(&pair, &budget(5), "proved")), None);
    leaves_nothing(
        "an error",
        &mut with_own_journals(&stage, &["run", "--server", "sh -c 'exit 9'", "--", "true"]),
        None,
    );
    for after in interrupted.iter().copied().map(Duration::from_millis) {
        let case = format!("interrupted-{}", after.as_millis());
        leaves_nothing(
            "Ctrl-C",
            &mut with_own_journals(&stage, &arguments(&pair, &budget(ENOUGH), &case)),
            Some(after),
        );
    }
}

#[test]
fn a_run_that_is_going_on_is_not_touched() {
    let _turn = beside_others();
    let stage = Stage::new();
    if !is_root() || !stage.can_record() {
        return;
    }
    let mark = Marked::new();
    let mut command = with_own_journals(&stage, &["run", "--exit-as-subject", "--", "sh", "-c", "sleep 1; exit 41"]);
    mark.on(command.stdout(Stdio::null()).stderr(Stdio::null()));
    let mut run = Background(command.spawn().expect("whyslow"));
    wait_until("the program runs", || mark.named("sleep").len() == 1);
    let undone = ended(&stage, &["undo", "--json"]);
    assert_eq!(undone.json()["left"], serde_json::json!([]), "{undone:?}");
    assert!(!undone.stdout.contains(&run.0.id().to_string()), "{undone:?}");
    assert_eq!(mark.named("sleep").len(), 1);
    assert_eq!(run.0.wait().expect("ended").code(), Some(41));
    assert!(Left::by(run.0.id(), &mark, &stage).is_nothing());
}
