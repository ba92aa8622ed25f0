//! What a run does to the machine and to its users: ordinary users, copies of cases, and nothing left behind.

use super::running::{Folder, run_variant, suspect, whyslow};
use crate::stage::wait_until;
use case::Answer;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use testing::{alone, beside_others, is_root, stretched};

/// The user `nobody` of every Debian system.
const NOBODY: &str = "65534";
/// What records nearly nothing.
const RUN: [&str; 3] = ["run", "--", "true"];
/// How long the client sleeps that is interrupted: no other program sleeps so long.
const CLIENT_SECONDS: &str = "91";

#[test]
fn an_ordinary_user_learns_in_three_lines_what_to_run_and_it_works() {
    let _turn = beside_others();
    if !is_root() {
        return;
    }
    // A copy, since the build's folder may not be open to others.
    let folder = Folder::new();
    fs::set_permissions(&folder.0, fs::Permissions::from_mode(0o777)).expect("a folder open to everybody, as a home");
    let binary = folder.join("whyslow");
    // By another process: what this one has open for writing may be open in a child that another test starts.
    let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_whyslow")).arg(&binary).status().expect("cp");
    assert!(copied.success());
    let ordinary = as_user(NOBODY, &binary, &RUN, &folder);
    let said = String::from_utf8_lossy(&ordinary.stderr).into_owned();
    assert_eq!(ordinary.status.code(), Some(2), "{said}");
    assert_eq!(said.lines().count(), 3, "{said}");
    assert!(ordinary.stdout.is_empty());
    let (once, always) = commands_offered(&said);
    // We are root already: what sudo would start must work.
    for command in [once, always] {
        let output = Command::new("sh")
            .args(["-c", &command])
            .env("XDG_STATE_HOME", folder.join("state"))
            .stdin(Stdio::null())
            .output()
            .expect("sh");
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let ordinary = as_user(NOBODY, &binary, &RUN, &folder);
    assert_eq!(ordinary.status.code(), Some(0), "after setcap: {}", String::from_utf8_lossy(&ordinary.stderr));
    expect_others_out_of_reach(&binary, &folder);
}

/// The capabilities are that group's alone, and serve to watch one's own programs alone.
fn expect_others_out_of_reach(binary: &Path, folder: &Folder) {
    let daemon = as_user("1", binary, &RUN, folder);
    assert!(daemon.status.code() == Some(126), "another group may execute it: {daemon:?}");
    let sleep = |user: &str| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", user, "--regid", user, "--clear-groups", "sleep", CLIENT_SECONDS]);
        command.stdin(Stdio::null()).spawn().expect("setpriv of util-linux")
    };
    for (user, code, words) in [("0", 2, "another user"), ("1", 2, "another user"), (NOBODY, 0, "")] {
        let mut target = sleep(user);
        let pid = target.id().to_string();
        let comm = format!("/proc/{pid}/comm");
        wait_until("it sleeps", || fs::read_to_string(&comm).is_ok_and(|name| name == "sleep\n"));
        let attach = ["attach", &pid, "--no-prove", "--duration", "500ms"];
        let ran = as_user(NOBODY, binary, &attach, folder);
        target.kill().and_then(|()| target.wait()).expect("ended");
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.code() == Some(code) && said.contains(words), "of user {user}: {ran:?}");
    }
}

/// whyslow as a user without privileges, and the group of the same number; the folder is the home.
fn as_user(user: &str, binary: &Path, words: &[&str], home: &Folder) -> Output {
    Command::new("setpriv")
        .args(["--reuid", user, "--regid", user, "--clear-groups", "--inh-caps=-all"])
        // setpriv itself still has root's right to execute anything.
        .arg("env")
        .arg(binary)
        .args(words)
        .current_dir(&home.0)
        .env("HOME", &home.0)
        .env_remove("XDG_STATE_HOME")
        .env_remove("SUDO_UID")
        .stdin(Stdio::null())
        .output()
        .expect("setpriv of util-linux")
}

/// The two commands of the error's last line, sudo taken off: `sudo A   (or, once: sudo B && sudo C)`.
fn commands_offered(said: &str) -> (String, String) {
    let line = said.lines().last().unwrap_or_default().trim_end_matches(')').replace("sudo ", "");
    let (at_once, always) = line.split_once("(or, once: ").unwrap_or_else(|| panic!("not two commands: {line}"));
    (at_once.trim().trim_start_matches("try: ").to_string(), always.to_string())
}

#[test]
fn a_case_tells_the_same_story_when_copied_and_reported_elsewhere() {
    let _turn = beside_others();
    let Some(run) = suspect("nagle", "slow") else { return };
    let elsewhere = Folder::new();
    let copy = elsewhere.join("copy");
    let copied = Command::new("cp").arg("-a").arg(&run.case).arg(&copy).status().expect("cp");
    assert!(copied.success());
    let report = whyslow().arg("report").arg(&copy).arg("--json").output().expect("whyslow report");
    let again: Answer = serde_json::from_slice(&report.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&report.stderr)));
    assert_eq!(again.findings, run.answer.findings);
    assert_eq!(again.ledger, run.answer.ledger);
    assert_eq!(report.status.code(), Some(1));
}

#[test]
fn no_namespace_link_queue_or_process_outlives_a_run() {
    let _alone = alone();
    let before = surroundings();
    if run_variant("four-lines", "fixed").is_none() {
        return;
    }
    expect_nothing_new(&before);
}

#[test]
fn nothing_outlives_a_run_that_was_interrupted() {
    let _alone = alone();
    if !is_root() {
        return;
    }
    let before = surroundings();
    let folder = Folder::new();
    let run = whyslow()
        .args(["run", "--link", "mtu=1500,rate=10mbit", "--json", "-o"])
        .arg(folder.join("case"))
        // Longer than it takes to interrupt it, and over some time if it is left to itself.
        .args(["--server", "python3 -m http.server --bind {server} 8080", "--", "sleep", CLIENT_SECONDS])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("whyslow");
    let deadline = Instant::now() + stretched(Duration::from_secs(20));
    while !is_asleep() {
        assert!(Instant::now() < deadline, "the client never ran");
        std::thread::sleep(Duration::from_millis(50));
    }
    std::thread::sleep(Duration::from_secs(1));
    let interrupt = Command::new("kill").args(["-INT", &run.id().to_string()]).status().expect("kill");
    let output = run.wait_with_output().expect("an end");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(interrupt.success(), "it ended before it was interrupted: {said}");
    assert_eq!(output.status.code(), Some(0), "an interrupted recording is still diagnosed: {said}");
    let answer: Answer = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
    let whole = CLIENT_SECONDS.parse::<u64>().expect("seconds") * 1_000_000_000;
    assert!(answer.wall_ns < whole, "the recording ended with the interrupt, not after {}", answer.wall_ns);
    expect_nothing_new(&before);
}

/// Whether the client of the run that is interrupted has begun: by its whole command line, whyslow's own has more in it.
fn is_asleep() -> bool {
    let found = Command::new("pgrep").args(["-fx", &format!("sleep {CLIENT_SECONDS}")]).output().expect("pgrep");
    found.status.success()
}

/// The namespaces, links and queues there are, and the stories' processes: a line each.
fn surroundings() -> BTreeSet<String> {
    let list = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output().expect("lsns, ip, tc and pgrep");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let listed = [
        list("lsns", &["-n", "-t", "net", "-o", "NS"]),
        list("ip", &["-o", "link", "show"]),
        list("tc", &["qdisc", "show"]),
        list("pgrep", &["-fa", "casebook/.*(server|client|fixed)[.]py|http[.]server --bind"]),
    ];
    let mut all: BTreeSet<String> = listed.iter().flat_map(|text| text.lines()).map(str::to_string).collect();
    // `lsns` leaves out what it cannot look at since a process is just ending; ours is always there.
    let own = std::fs::read_link("/proc/self/ns/net").expect("a namespace").display().to_string();
    all.extend(own.strip_prefix("net:[").and_then(|rest| rest.strip_suffix(']')).map(str::to_string));
    all
}

/// Fails where something is there that was not before, and stays: the kernel takes namespaces down in its own time.
fn expect_nothing_new(before: &BTreeSet<String>) {
    let deadline = Instant::now() + stretched(Duration::from_secs(10));
    loop {
        let new: Vec<String> = surroundings().difference(before).cloned().collect();
        if new.is_empty() {
            return;
        }
        assert!(Instant::now() < deadline, "left behind: {new:#?}");
        std::thread::sleep(Duration::from_millis(200));
    }
}
