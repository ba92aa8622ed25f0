//! What reads programs' files while `whyslow run` records: nobody's process, whose end costs names and nothing else.

use crate::stage::{Background, Stage, wait_until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

/// The resolvers below a process: their ids, and what the kernel says of each.
fn below(whyslow: u32) -> Vec<(u32, String)> {
    let parent = |status: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix("PPid:"));
        line.and_then(|pid| pid.trim().parse::<u32>().ok())
    };
    let status = |pid: u32| fs::read_to_string(format!("/proc/{pid}/status")).ok();
    let processes = fs::read_dir("/proc").expect("processes").flatten();
    let all = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let all = all.filter_map(|pid| Some((pid, status(pid)?)));
    let is_it = |found: &(u32, String)| {
        let (_, text) = found;
        let above = parent(text).and_then(status).and_then(|above| parent(&above));
        text.starts_with("Name:\twhyslow-resolve\n") && !text.contains("State:\tZ") && above == Some(whyslow)
    };
    all.filter(is_it).collect()
}

#[test]
fn a_run_whose_resolver_is_killed_ends_with_its_verdict_and_says_what_has_no_name() {
    let stage = Stage::new();
    if !stage.can_record() {
        return;
    }
    // For whoever called sudo, too, it is neither root's nor theirs.
    fs::set_permissions(stage.path(""), fs::Permissions::from_mode(0o777)).expect("anybody's");
    for caller in [None, Some("1")] {
        let _ = fs::remove_dir_all(stage.path("case"));
        let mut command =
            stage.whyslow(&["run", "--json", "--no-prove", "-o", "case", "--", "sh", "-c", "sleep 2; ls /"]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        if let Some(caller) = caller {
            command.envs([("SUDO_UID", caller), ("SUDO_GID", caller)]);
        }
        let mut running = Background(command.spawn().expect("whyslow"));
        wait_until("a resolver is shut in", || {
            below(running.0.id()).iter().any(|(_, status)| status.contains("Seccomp:\t2\n"))
        });
        let found = below(running.0.id());
        let [(pid, status)] = &found[..] else { panic!("{found:?}") };
        assert!(
            status.contains("Uid:\t65534\t65534\t65534\t65534\n") && status.contains("NoNewPrivs:\t1\n"),
            "{status}"
        );
        kill(Pid::from_raw(*pid as i32), Signal::SIGKILL).expect("it was there");
        let ended = running.0.wait().expect("an end");
        let answer = fs::read_to_string(stage.path("case/answer.json")).expect("an answer");
        let answer: serde_json::Value = serde_json::from_str(&answer).expect("JSON");
        assert!(ended.success() && answer["verdict"] == "none", "{answer}");
        let missing = answer["missing"].as_array().expect("a list").iter().filter_map(|what| what.as_str());
        let names = missing.filter(|what| what.contains("names of code")).collect::<Vec<_>>();
        assert!(names.len() == 1 && names[0].ends_with(", once"), "{names:?}");
        assert!(below(running.0.id()).is_empty());
    }
}
