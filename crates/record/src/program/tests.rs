use super::*;
use std::path::Path;
use std::time::{Duration, Instant};
use testing::{is_root, stretched};

fn program(arguments: &[&str]) -> Program {
    Program { arguments: arguments.iter().map(ToString::to_string).collect(), ..Program::default() }
}

fn run(program: &Program) -> Ended {
    let mut running = program.hold().expect("held").release().expect("released");
    let deadline = Instant::now() + stretched(Duration::from_secs(10));
    while Instant::now() < deadline {
        if let Some(ended) = running.poll().expect("a status") {
            return ended;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    panic!("it did not end");
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
    let tethered = Program { parent_death_signal: ParentDeathSignal::Terminate, ..program(&["sleep", "60"]) };
    let running = tethered.hold().expect("held").release().expect("released");
    let pid = running.pid();
    drop(running);
    assert_eq!(collect(pid, 0).expect("collected"), Some(Ended { exit: None, signal: Some(15) }));
}

/// Runs a shell line and gives what it printed.
fn printed(line: &str, program: Program) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("printed");
    let arguments = ["sh", "-c", line].map(ToString::to_string).to_vec();
    let ended = run(&Program { arguments, output: Output::File(path.clone()), ..program });
    assert_eq!(ended.exit, Some(0), "{line}");
    std::fs::read_to_string(path).expect("a file")
}

fn refusal(program: &Program) -> String {
    let result = program.hold().and_then(Held::release);
    result.err().expect("refused").to_string()
}

#[test]
fn variables_are_set_and_removed() {
    let environment = vec![
        ("ADDED".into(), Some("a b".into())),
        ("TAKEN".into(), Some("1".into())),
        ("TAKEN".into(), None),
        ("HOME".into(), None),
    ];
    let program = Program { environment, ..Program::default() };
    assert_eq!(printed("echo ${ADDED-none} ${TAKEN-none} ${HOME-none} ${PATH:+path}", program), "a b none none path\n");
}

#[test]
fn a_users_variables_can_be_changed_too() {
    if !is_root() {
        return;
    }
    let environment = vec![("HOME".into(), Some("/elsewhere".into()))];
    let user = Some(User { uid: 65534, gid: 65534 });
    assert_eq!(printed("echo $HOME $USER", Program { user, environment, ..Program::default() }), "/elsewhere nobody\n");
}

#[test]
fn it_starts_in_its_folder_and_is_found_from_there() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("inner")).expect("made");
    let shell = "printf '#!/bin/sh\\ntest $0 = ./program' > inner/program && chmod 755 inner/program";
    let mut shell_command = std::process::Command::new("sh");
    assert!(shell_command.args(["-c", shell]).current_dir(folder.path()).status().expect("a shell").success());
    let inside = Program { folder: Some(folder.path().join("inner")), ..Program::default() };
    assert!(printed("pwd -P", inside.clone()).ends_with("/inner\n"));
    assert_eq!(run(&Program { arguments: vec!["./program".into()], ..inside }).exit, Some(0));
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let program = Program { folder: Some("/no/such/folder".into()), ..program(&["true"]) };
    assert!(refusal(&program).starts_with("entering the folder /no/such/folder: No such file"));
}

#[test]
fn it_keeps_to_its_processors() {
    let confined = Program { processors: vec![0], ..Program::default() };
    assert_eq!(printed("sed -n 's/^Cpus_allowed_list:\\t//p' /proc/self/status", confined), "0\n");
    let nowhere = Program { processors: vec![1_000], ..program(&["true"]) };
    assert!(refusal(&nowhere).starts_with("keeping the program to the processors [1000]: "));
    let beyond = Program { processors: vec![100_000], ..program(&["true"]) };
    assert!(refusal(&beyond).starts_with("choosing processor 100000: "));
}

#[test]
fn a_file_shown_in_the_place_of_another_is_seen_by_the_program_only() {
    if !is_root() {
        return;
    }
    let ours = std::fs::read_to_string("/etc/hosts").expect("hosts");
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("hosts");
    std::fs::write(&source, "192.0.2.1 shown\n").expect("written");
    let mounts = vec![Mount { source, target: "/etc/hosts".into() }];
    let held = Program { mounts: mounts.clone(), ..program(&["true"]) }.hold().expect("held");
    assert_eq!(
        std::fs::read_to_string(format!("/proc/{}/root/etc/hosts", held.pid())).expect("seen"),
        "192.0.2.1 shown\n"
    );
    assert_eq!(std::fs::read_to_string("/etc/hosts").expect("hosts"), ours);
    drop(held);
    let user = Some(User { uid: 65534, gid: 65534 });
    assert_eq!(printed("cat /etc/hosts", Program { user, mounts, ..Program::default() }), "192.0.2.1 shown\n");
    assert!(!std::fs::read_to_string("/proc/self/mounts").expect("mounts").contains("/etc/hosts"));
}

#[test]
fn a_refused_mount_says_which() {
    if !is_root() {
        return;
    }
    let mount = |target: &str| Mount { source: "/etc/hosts".into(), target: target.into() };
    let program = Program { mounts: vec![mount("/etc/passwd"), mount("/no/such/file")], ..program(&["true"]) };
    let expected = "showing /etc/hosts to the program in the place of /no/such/file: No such file";
    assert!(refusal(&program).starts_with(expected));
}

#[test]
fn streams_are_files_where_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("input"), "from a file\n").expect("written");
    std::fs::write(path("output"), "a longer text that was there before\n").expect("written");
    let program = Program {
        input: Input::File(path("input")),
        output: Output::File(path("output")),
        errors: Output::File(path("errors")),
        parent_death_signal: ParentDeathSignal::Terminate,
        ..program(&["sh", "-c", "cat; echo wrong >&2"])
    };
    assert_eq!(run(&program).exit, Some(0));
    assert_eq!(std::fs::read_to_string(path("output")).expect("read"), "from a file\n");
    assert_eq!(std::fs::read_to_string(path("errors")).expect("read"), "wrong\n");
}

#[test]
fn both_streams_are_added_to_one_file_behind_what_was_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("both");
    std::fs::write(&path, "before\n").expect("written");
    let [output, errors] = [(); 2].map(|()| Output::Added(path.clone()));
    let program = Program { output, errors, ..program(&["sh", "-c", "echo one; echo two >&2; echo three"]) };
    assert_eq!(run(&program).exit, Some(0));
    assert_eq!(std::fs::read_to_string(path).expect("read"), "before\none\ntwo\nthree\n");
}

#[test]
fn no_input_ends_at_once() {
    assert_eq!(printed("wc -c", Program { input: Input::Nothing, ..Program::default() }), "0\n");
    assert_eq!(
        printed("wc -c", Program { parent_death_signal: ParentDeathSignal::Terminate, ..Program::default() }),
        "0\n"
    );
    let program = Program { input: Input::File("/no/such/input".into()), ..program(&["true"]) };
    assert!(refusal(&program).starts_with("opening the program's input /no/such/input: No such file"));
}

#[test]
fn a_tree_of_its_own_shows_layers_and_shared_parts_and_keeps_nothing() {
    if !is_root() {
        return;
    }
    // The kernel refuses layers that lie in each other.
    let folder = tempfile::tempdir_in("/dev/shm").expect("a folder");
    let path = |name: &str| folder.path().join(name);
    for name in ["a,b:c/opt", "place"] {
        std::fs::create_dir_all(path(name)).expect("made");
    }
    std::fs::write(path("a,b:c/opt/upper"), "laid over\n").expect("written");
    std::fs::write(path("hosts"), "shown\n").expect("written");
    let shared = ["/proc", "/tmp", "/etc/no-such-file"].map(Into::into).to_vec();
    let layers = vec![path("a,b:c"), "/".into()];
    let root = Root { layers: layers.clone(), shared, place: path("place") };
    let mounts = vec![Mount { source: path("hosts"), target: "/etc/hosts".into() }];
    let script =
        "cat /opt/upper /etc/hosts; echo lost >/opt/new && test -e /opt/new; pwd; ! ls -A / | grep whyslow-host";
    let output = printed(
        script,
        Program { root: Some(root.clone()), mounts, folder: Some("/opt".into()), ..Program::default() },
    );
    assert_eq!(output, "laid over\nshown\n/opt\n");
    assert!(!Path::new("/opt/new").exists() && !path("a,b:c/opt/new").exists());
    assert_eq!(std::fs::read_dir(path("place")).expect("there").count(), 0);
    assert_eq!(root.resolve(Path::new("/opt/upper")), Some(path("a,b:c/opt/upper")));
    assert_eq!(root.resolve(Path::new("/etc/no-such-file")), None);
    let many = Root { layers: [vec![path("a-long-name"); 200], vec!["/".into()]].concat(), ..root };
    assert!(refusal(&Program { root: Some(many), ..program(&["true"]) }).contains("laying 201 folders"));
}
