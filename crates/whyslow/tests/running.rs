//! `whyslow run` on a real kernel: what happens to the programs, to their output and to their status.

use crate::stage::{Background, Stage, client, free_port, processes_with, server, shell, wait_until};
use nix::sys::signal::Signal;
use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, Instant};
use testing::{is_root, stretched};

#[test]
fn the_programs_output_comes_first_and_the_cases_path_last() {
    let stage = Stage::new();
    if !stage.can_record() {
        return;
    }
    let ran = stage.run(&["run", "--", "echo", "from the program"]).answered();
    assert!(ran.stdout.starts_with("from the program\n"), "{ran:?}");
    let last = ran.stdout.lines().last().expect("a last line");
    let case = last.strip_prefix("Case: ").expect("the case");
    assert!(case.starts_with(stage.path("state/whyslow").to_str().expect("text")) && case.ends_with("-echo"), "{case}");
    assert_eq!(shell(&format!("stat -c %a {case}")), "700\n");
}

#[test]
fn a_case_says_the_same_again() {
    let stage = Stage::new();
    if !stage.can_record() {
        return;
    }
    let ran = stage.run(&["run", "--json", "-o", "case", "--", "sh", "-c", "ls /; exit 3"]).answered();
    let kept = std::fs::read_to_string(stage.path("case/answer.json")).expect("an answer");
    assert_eq!(kept, ran.stdout);
    let again = stage.run(&["report", "--json", "case"]);
    assert_eq!((again.code, again.stdout), (ran.code, ran.stdout));
}

#[test]
fn with_json_the_programs_output_goes_to_standard_error() {
    let stage = Stage::new();
    if !stage.can_record() {
        return;
    }
    let ran = stage.run(&["run", "--json", "--", "sh", "-c", "echo spoken; exit 3"]).answered();
    assert_eq!(ran.json()["subject_exit"], 3);
    assert!(ran.stderr.contains("spoken"));
}

#[test]
fn the_programs_status_is_returned_on_demand() {
    let stage = Stage::new();
    if !stage.can_record() {
        return;
    }
    assert_eq!(stage.run(&["run", "--exit-as-subject", "--", "sh", "-c", "exit 41"]).code, 41);
    let killed = stage.run(&["run", "--exit-as-subject", "--json", "--", "sh", "-c", "kill -SEGV $$"]);
    assert_eq!((killed.code, killed.json()["subject_exit"].as_i64()), (139, Some(139)));
    assert!(killed.stderr.contains("was killed by signal 11 (SIGSEGV)"), "{killed:?}");
}

#[test]
fn client_and_server_run_on_the_loopback() {
    let stage = Stage::new();
    if !stage.can_record() {
        return;
    }
    let port = free_port();
    let [python, c, script] = client(port);
    let serve = server(stage.path(".").as_path(), port);
    let ran = stage.run(&["run", "--server", &serve, "--", &python, &c, &script, "{server}"]).answered();
    assert!(ran.stdout.starts_with("reached 127.0.0.1\n"), "{ran:?}");
    assert_eq!(processes_with(&format!("127.0.0.1 {port}")), [0; 0], "the server is gone");
}

#[test]
fn client_and_server_meet_over_a_link_and_nothing_of_it_stays() {
    let stage = Stage::new();
    if !is_root() || !stage.can_record() {
        return;
    }
    let port = free_port();
    let [python, c, script] = client(port);
    let serve = server(stage.path(".").as_path(), port);
    let link = "mtu=1400,rate=10mbit";
    let ran =
        stage.run(&["run", "--link", link, "--server", &serve, "-o", "case", "--", &python, &c, &script, "{server}"]);
    assert!(ran.answered().stdout.starts_with("reached 10.77.0.2\n"));
    assert_eq!(processes_with(&format!("10.77.0.2 {port}")), [0; 0], "the server is gone");
    let manifest = std::fs::read_to_string(stage.path("case/manifest.json")).expect("a manifest");
    assert!(manifest.contains(link), "{manifest}");
}

#[test]
fn a_server_that_ends_or_never_listens_is_an_error_and_leaves_no_case() {
    let stage = Stage::new();
    if !stage.can_record() {
        return;
    }
    let run = |server: &str| stage.run(&["run", "-o", "case", "--server", server, "--", "true"]);
    let ended = run("sh -c 'exit 9'");
    assert!(ended.error()[1].contains("exited with status 9"), "{ended:?}");
    let silent = run("sleep 4711");
    assert!(silent.error()[1].contains("within 10 s"), "{silent:?}");
    assert_eq!(processes_with("sleep 4711"), [0; 0]);
    assert!(run("no-such-server").error()[0].contains("command not found"));
    assert!(!stage.path("case").exists());
}

#[test]
fn a_server_that_turns_into_a_daemon_is_found_and_stopped() {
    let stage = Stage::new();
    if !stage.can_record() {
        return;
    }
    let port = free_port();
    let daemon = "import os, socket, sys, time\n\
                  if os.fork(): sys.exit()\n\
                  os.setsid()\n\
                  if os.fork(): os._exit(0)\n\
                  time.sleep(0.2)\n\
                  listener = socket.create_server(('127.0.0.1', int(sys.argv[1])))\n\
                  while True: listener.accept()[0].sendall(b'daemon')\n";
    std::fs::write(stage.path("daemon.py"), daemon).expect("written");
    let [python, c, script] = client(port);
    let serve = format!("python3 daemon.py {port}");
    let ran = stage.run(&["run", "--server", &serve, "--", &python, &c, &script, "{server}"]).answered();
    assert!(ran.stdout.starts_with("reached daemon\n"), "{ran:?}");
    assert_eq!(processes_with(&format!("daemon.py {port}")), [0; 0]);
}

#[test]
fn a_limit_ends_the_recording_and_then_the_program() {
    let stage = Stage::new();
    if !stage.can_record() {
        return;
    }
    let begun = Instant::now();
    let ran = stage.run(&["run", "--json", "--duration", "300ms", "--", "sleep", "60"]).answered();
    assert!(begun.elapsed() < stretched(Duration::from_secs(20)));
    assert_eq!(ran.json()["subject_exit"], serde_json::Value::Null);
    assert!(ran.stderr.contains("sending the program SIGTERM"), "{ran:?}");
    let wall = ran.json()["wall_ns"].as_u64().expect("a number");
    let most = stretched(Duration::from_secs(2)).as_nanos() as u64;
    assert!((250_000_000..most).contains(&wall), "{wall}");
}

#[test]
fn a_signal_to_whyslow_reaches_the_program_and_the_diagnosis_is_printed() {
    let stage = Stage::new();
    if !stage.can_record() {
        return;
    }
    let script = "trap 'echo stopping; exit 7' TERM; echo ready; sleep 4712 & wait";
    let mut command = stage.whyslow(&["run", "--exit-as-subject", "--", "sh", "-c", script]);
    let mut run = Background(command.stdout(Stdio::piped()).spawn().expect("whyslow"));
    let mut out = run.0.stdout.take().expect("a pipe");
    let mut begun = [0; 6];
    out.read_exact(&mut begun).expect("ready");
    run.signal(Signal::SIGTERM);
    // The orphan holds the pipe: it is ended before all is read.
    assert_eq!(run.0.wait().expect("ended").code(), Some(7));
    for pid in processes_with("sleep 4712") {
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid as i32), Signal::SIGKILL).expect("killed");
    }
    let mut said = String::new();
    out.read_to_string(&mut said).expect("text");
    assert!(said.starts_with("stopping\n") && said.contains("\nCase: "), "{said}");
}

#[test]
fn a_program_that_ignores_signals_is_left_alone() {
    let stage = Stage::new();
    if !stage.can_record() {
        return;
    }
    let script = "import signal, time\n\
                  signal.signal(signal.SIGTERM, signal.SIG_IGN)\n\
                  time.sleep(4713)";
    let mut command = stage.whyslow(&["run", "--duration", "700ms", "--", "python3", "-c", script]);
    // Files and no pipes: the program holds its output open for as long as it lives.
    let said = std::fs::File::create(stage.path("said")).expect("a file");
    command.stderr(said).stdout(Stdio::null()).status().expect("whyslow");
    let said = std::fs::read_to_string(stage.path("said")).expect("text");
    assert!(said.contains("whyslow leaves it alone"), "{said}");
    let left = processes_with("time.sleep(4713)");
    assert_eq!(left.len(), 1);
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(left[0] as i32), Signal::SIGKILL).expect("killed");
}

#[test]
fn killing_whyslow_leaves_no_server_and_no_namespace() {
    let stage = Stage::new();
    if !is_root() || !stage.can_record() {
        return;
    }
    let port = free_port();
    let serve = server(stage.path(".").as_path(), port);
    let mark = format!("10.77.0.2 {port}");
    let arguments = ["run", "--link", "mtu=1500", "--server", &serve, "--", "sleep", "4714"];
    let run = Background(stage.whyslow(&arguments).spawn().expect("whyslow"));
    // The exact command line: whyslow's own has the client's in it.
    let clients = || processes_with("sleep 4714").into_iter().filter(|pid| *pid != run.0.id()).collect::<Vec<_>>();
    wait_until("the client runs", || clients().iter().any(|pid| shell(&format!("cat /proc/{pid}/comm")) == "sleep\n"));
    let client = clients()[0];
    let namespace = shell(&format!("readlink /proc/{client}/ns/net | tr -dc 0-9"));
    run.signal(Signal::SIGKILL);
    wait_until("the server is gone", || processes_with(&mark).into_iter().all(|pid| pid == run.0.id()));
    assert!(std::path::Path::new(&format!("/proc/{client}")).exists(), "the client is left alone");
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(client as i32), Signal::SIGKILL).expect("killed");
    wait_until("the namespace is gone", || !shell("lsns --noheadings -o NS -t net").contains(&namespace));
}

#[test]
fn under_sudo_the_program_and_the_case_are_the_callers() {
    let stage = Stage::new();
    if !is_root() || !stage.can_record() {
        return;
    }
    // What is made is made with the caller's rights.
    let open_to_all = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(stage.path("."), open_to_all).expect("the stage is ours");
    let mut command = stage.whyslow(&["run", "-o", "new/case", "--", "sh", "-c", "id -u; id -g; echo $HOME"]);
    let output = command.env("SUDO_UID", "65534").env("SUDO_GID", "65534").output().expect("whyslow");
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("65534\n65534\n/nonexistent\n"), "{output:?}");
    let owners = shell(&format!("find {} -printf '%U:%G\\n' | sort -u", stage.path("new").display()));
    assert_eq!(owners, "65534:65534\n");
    let mut as_root = stage.whyslow(&["run", "--user", "root", "--", "id", "-u"]);
    let output = as_root.env("SUDO_UID", "65534").env("SUDO_GID", "65534").output().expect("whyslow");
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("0\n"), "{output:?}");
}

#[test]
fn a_full_disk_is_three_lines() {
    let stage = Stage::new();
    if !is_root() || !stage.can_record() {
        return;
    }
    std::fs::create_dir(stage.path("disk")).expect("made");
    // In a mount namespace of its own, which vanishes with the shell.
    let script = format!(
        "mount -t tmpfs -o size=8k none disk && exec {} run -o disk/case -- true",
        env!("CARGO_BIN_EXE_whyslow")
    );
    let mut command = std::process::Command::new("unshare");
    command.args(["--mount", "sh", "-c", &script]).current_dir(stage.path("."));
    let ran = crate::stage::Ran::from(command.output().expect("unshare"));
    assert!(ran.error()[0].contains("disk is full"), "{ran:?}");
    assert!(ran.error()[2].contains("df -h"), "{ran:?}");
}
