use super::*;
use std::path::Path;
use std::time::{Duration, Instant};

fn program(arguments: &[&str]) -> Program {
    Program { arguments: arguments.iter().map(ToString::to_string).collect(), ..Program::default() }
}

fn run(program: &Program) -> Ended {
    let mut running = program.hold().expect("held").release().expect("released");
    let deadline = Instant::now() + Duration::from_secs(10);
    while Instant::now() < deadline {
        if let Some(ended) = running.poll().expect("a status") {
            return ended;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    panic!("it did not end");
}

fn is_root() -> bool {
    let root = nix::unistd::geteuid().is_root();
    if !root {
        println!("skipped: needs root");
    }
    root
}

#[test]
fn a_held_process_has_not_begun() {
    let folder = tempfile::tempdir().expect("a folder");
    let mark = folder.path().join("begun");
    let held = program(&["touch", mark.to_str().expect("text")]).hold().expect("held");
    std::thread::sleep(Duration::from_millis(50));
    assert!(!mark.exists());
    let mut running = held.release().expect("released");
    running.wait();
    assert!(mark.exists());
}

#[test]
fn a_process_that_is_never_released_goes_away() {
    let held = program(&["sleep", "60"]).hold().expect("held");
    let pid = held.pid();
    drop(held);
    assert!(!Path::new(&format!("/proc/{pid}")).exists());
}

#[test]
fn the_exit_status_is_reported() {
    assert_eq!(run(&program(&["sh", "-c", "exit 7"])), Ended { exit: Some(7), signal: None });
    assert_eq!(run(&program(&["sh", "-c", "kill -9 $$"])), Ended { exit: None, signal: Some(9) });
}

#[test]
fn an_unknown_command_is_not_found() {
    assert!(matches!(program(&["no-such-command-here"]).hold(), Err(RecordError::NotFound(_))));
    assert!(matches!(program(&["./no/such/file"]).hold(), Err(RecordError::NotFound(_))));
}

#[test]
fn a_file_that_cannot_be_executed_is_said_to_be_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let plain = folder.path().join("plain");
    std::fs::write(&plain, "echo hi\n").expect("written");
    let refused = program(&[plain.to_str().expect("text")]).hold();
    assert!(matches!(refused, Err(RecordError::NotExecutable { .. })));
    let folder_itself = program(&[folder.path().to_str().expect("text")]).hold();
    assert!(matches!(folder_itself, Err(RecordError::NotExecutable { .. })));
}

#[test]
fn a_failing_exec_is_an_error_and_not_an_exit_status() {
    let folder = tempfile::tempdir().expect("a folder");
    let attempt = |name: &str, text: &str| {
        let path = folder.path().join(name);
        // Written by another process: a descriptor of ours, inherited by a neighbouring test's child, would keep the
        // file busy.
        let shell = format!("printf '{text}' > {0} && chmod 755 {0}", path.display());
        assert!(std::process::Command::new("sh").args(["-c", &shell]).status().expect("a shell").success());
        let held = program(&[path.to_str().expect("text")]).hold().expect("held");
        held.release().err().expect("refused").to_string()
    };
    assert!(attempt("a", "#!/no/such/interpreter").contains("interpreter"));
    assert!(attempt("b", "just text").contains("#!"));
}

#[test]
fn signals_are_as_a_shell_would_give_them() {
    let shell = "test $(sed -n 's/^SigBlk:\\t//p' /proc/$$/status) = 0000000000000000 && \
                 test $((0x$(sed -n 's/^SigIgn:\\t//p' /proc/$$/status) & 0x1000)) = 0";
    assert_eq!(run(&program(&["sh", "-c", shell])).exit, Some(0));
}

#[test]
fn a_network_of_its_own_has_loopback_up_and_nothing_else() {
    if !is_root() {
        return;
    }
    let shell = "test $(ip -o link | wc -l) = 1 && ip -o link show lo | grep -q '[<,]UP'";
    let own = Program { network: Network::Own, ..program(&["sh", "-c", shell]) };
    assert_eq!(run(&own).exit, Some(0));
}

#[test]
fn another_user_comes_with_groups_and_home() {
    if !is_root() {
        return;
    }
    let shell =
        "test $(id -un) = nobody && test $USER = nobody && test \"$(id -G)\" = 65534 && test $HOME = /nonexistent";
    let user = Some(User { uid: 65534, gid: 65534 });
    assert_eq!(run(&Program { user, ..program(&["sh", "-c", shell]) }).exit, Some(0));
}

#[test]
fn a_tethered_program_does_not_outlive_its_handle() {
    let tethered = Program { tether: Tether::ToUs, ..program(&["sleep", "60"]) };
    let running = tethered.hold().expect("held").release().expect("released");
    let pid = running.pid();
    drop(running);
    assert_eq!(collect(pid, 0).expect("collected"), Some(Ended { exit: None, signal: Some(15) }));
}
