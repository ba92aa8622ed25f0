use super::*;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// Says to this test binary, started once more, where it is to run a tool: it is the one that is killed.
const PLACE: &str = "WHYSLOW_TEST_TOOL";
/// Nothing of a tool is left after so long, also where others keep the processors.
const LONGEST_END: Duration = Duration::from_mins(1);

fn shell(script: &str) -> Program {
    Program { arguments: ["sh", "-c", script].map(String::from).to_vec(), ..Program::default() }
}

fn patient(turn: Duration) -> bool {
    std::thread::sleep(turn);
    false
}

/// A process that runs a tool, given by a script in a folder.
fn started(place: &Path) -> Child {
    let mut own = Command::new(std::env::current_exe().expect("ourselves"));
    own.args(["--exact", "tool::tests::a_process_that_runs_a_tool"]).env(PLACE, place);
    own.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("started")
}

/// Those that are there. What has ended may wait for a new parent to look at it.
fn alive(processes: &[String]) -> Vec<&String> {
    let is_alive =
        |pid: &&String| std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z"));
    processes.iter().filter(is_alive).collect()
}

/// No test of its own: what the others kill. Builds are started by threads, as here.
#[test]
fn a_process_that_runs_a_tool() {
    let Some(place) = std::env::var_os(PLACE).map(PathBuf::from) else { return };
    let script = std::fs::read_to_string(place.join("script")).expect("a script");
    let ran = std::thread::spawn(move || run(shell(&script), &place.join("log"), &mut patient));
    drop(ran.join().expect("run"));
}

#[test]
fn nothing_of_a_tool_is_left_when_whoever_runs_it_is_killed() {
    let scripts = [
        // The tool, what it runs, and what that runs.
        "echo $$; sh -c 'echo $$; sleep 1000 & echo $!; wait'; echo not reached",
        // What does not listen.
        "trap '' TERM; echo $$; sh -c 'echo $$; sleep 1000 & echo $!; while :; do wait; done'",
    ];
    for script in scripts {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("script"), script).expect("written");
        let (mut child, begun) = (started(folder.path()), Instant::now());
        let said = || last_lines(&folder.path().join("log"), 4);
        while said().len() < 3 && begun.elapsed() < LONGEST_END {
            std::thread::sleep(TURN);
        }
        let (processes, begun) = (said(), Instant::now());
        let running = alive(&processes).len();
        child.kill().expect("killed");
        child.wait().expect("waited for");
        while !alive(&processes).is_empty() && begun.elapsed() < LONGEST_END {
            std::thread::sleep(TURN);
        }
        assert_eq!((running, alive(&processes)), (3, Vec::new()), "{script}");
    }
}

#[test]
fn what_a_tool_says_is_added_to_its_log_in_order_and_its_end_is_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    std::fs::write(&log, "before\n").expect("written");
    let ended = run(shell("echo one; echo two >&2; echo three; cat; exit 3"), &log, &mut patient).expect("run");
    assert_eq!(ended, Ended { exit: Some(3), signal: None });
    assert_eq!(std::fs::read_to_string(&log).expect("a log"), "before\none\ntwo\nthree\n");
    assert_eq!(last_lines(&log, 2), ["two", "three"]);
    let ended = run(shell("kill -9 $$"), &log, &mut patient).expect("run");
    assert_eq!(ended, Ended { exit: None, signal: Some(9) });
}

#[test]
fn what_a_tool_leaves_running_when_it_has_ended_is_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    run(shell("sleep 1000 & echo $!"), &log, &mut patient).expect("run");
    let left = last_lines(&log, 1);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(alive(&left).len(), 1);
    record::send_signal(left[0].parse().expect("a process"), libc::SIGKILL);
}
