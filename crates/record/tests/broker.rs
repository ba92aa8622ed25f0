//! A command that has become nobody, and what the broker does not do for it. A program of its own, without the usual harness: it
//! divides itself before any thread is started.

use broker::{
    Allowed, Enter, Identity, Look, MakeGroup, OpenKernelSymbols, OpenMemory, OpenOf, Place, SetGroup, Signal, ask,
};
use record::{Mount, Output, Program, Root, User};
use std::fs;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Whom the command becomes.
const NOBODY: Identity = Identity { uid: 65_534, gid: 65_534 };
/// A user that root's caller has named.
const NAMED: User = User { uid: 7, gid: 7 };
/// What a program is told by that asks it to end.
const TERMINATE: i32 = 15;

static REQUESTS: [&[broker::Entry]; 1] = [&record::REQUESTS];

fn main() {
    if !testing::is_root() {
        return;
    }
    let place = tempfile::tempdir().expect("a folder");
    let secret = secret(place.path());
    nix::unistd::setgroups(&[]).expect("root's right");
    let others = vec![Identity { uid: NAMED.uid, gid: NAMED.gid }];
    let mut keeper = keeper(place);
    broker::divide(&REQUESTS, &Allowed { becomes: Some(NOBODY), others, ..Allowed::default() }).expect("two roles");
    the_command_is_nobody_for_good();
    processes_of_others_are_out_of_reach();
    groups_of_others_are_out_of_reach();
    programs_run_as_nobody_but_the_caller_and_who_was_named();
    what_the_caller_may_not_read_is_not_mounted(&secret);
    trees_show_the_caller_nothing_that_was_out_of_its_reach(&secret);
    the_kernels_addresses_are_shown();
    let held = program(&["true"]).hold().expect("held");
    broker::dismiss();
    let gone = ask(OpenKernelSymbols, &[]).map(drop);
    assert!(gone.is_err_and(|error| error.to_string().contains("has ended")), "without its broker it is told so");
    a_held_program_goes_though_the_broker_has_gone(held);
    drop(keeper.stdin.take());
    keeper.wait().expect("an end");
    println!("all requests for what is others' were refused");
}

/// Somebody who is still root removes the folder, once our end of the pipe is closed.
fn keeper(place: tempfile::TempDir) -> std::process::Child {
    let script = format!("cat; rm -rf '{}'", place.keep().display());
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &script]).stdin(std::process::Stdio::piped()).spawn().expect("a shell")
}

/// A file that everybody may read, in a folder that only root may enter, and one beside it that is open to all.
fn secret(place: &Path) -> PathBuf {
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("root's");
    mode(place, 0o755);
    fs::create_dir(place.join("roots")).expect("made");
    fs::write(place.join("roots/secret"), "secret\n").expect("written");
    fs::write(place.join("open"), "open\n").expect("written");
    fs::write(place.join("shown"), "shown\n").expect("written");
    fs::create_dir(place.join("roots/inner")).expect("made");
    fs::write(place.join("roots/inner/secret"), "secret\n").expect("written");
    let layer = place.join("layer").join(place.strip_prefix("/").expect("absolute"));
    for folder in
        [&layer.join("open-folder"), &place.join("open-folder/link/new"), &place.join("victim"), &place.join("place")]
    {
        fs::create_dir_all(folder).expect("made");
    }
    let host = Path::new("/.whyslow-host").join(place.join("victim").strip_prefix("/").expect("absolute"));
    std::os::unix::fs::symlink(host, layer.join("open-folder/link")).expect("linked");
    mode(&place.join("roots"), 0o700);
    place.join("roots/secret")
}

fn the_command_is_nobody_for_good() {
    let status = fs::read_to_string("/proc/self/status").expect("readable");
    let line = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.split_whitespace().map(str::to_string).collect::<Vec<_>>()
    };
    assert_eq!(line("Uid:"), ["65534"; 4]);
    assert_eq!(line("Gid:"), ["65534"; 4]);
    for set in ["CapInh:", "CapPrm:", "CapEff:", "CapAmb:"] {
        assert_eq!(line(set), ["0000000000000000"], "{set}");
    }
    assert_eq!(line("NoNewPrivs:"), ["1"]);
    assert!(nix::unistd::setuid(0.into()).is_err(), "root cannot be had back");
    let memory = fs::metadata("/proc/self/mem").expect("there");
    assert_eq!(memory.uid(), 0, "others of the same user cannot open it");
}

fn processes_of_others_are_out_of_reach() {
    let (own, broker) = (std::process::id(), broker::broker_pid().expect("a broker"));
    for pid in [1, own, broker, nix::unistd::getppid().as_raw() as u32] {
        let place = Some(Place::Executable);
        assert!(ask(Look { pid, place }, &[]).is_err() && ask(Look { pid, place: None }, &[]).is_err(), "{pid}");
        let call = OpenOf::Call { pid, tid: pid };
        for wanted in [OpenOf::Mappings { pid }, OpenOf::Root { pid }, OpenOf::Mounts { pid }, call] {
            assert!(ask(wanted, &[]).is_err(), "{pid}");
        }
        assert!(ask(OpenMemory { pid }, &[]).is_err(), "{pid}");
        for to_group in [false, true] {
            assert!(ask(Signal { pid, to_group, signal: TERMINATE }, &[]).is_err(), "{pid}");
        }
    }
    // What was started is the subject's: the broker looks into it though it is held, and root's until it is released.
    let held = program(&["true"]).hold().expect("held");
    assert!(fs::read_link(format!("/proc/{}/exe", held.pid())).is_err(), "not with our own rights");
    ask(Look { pid: held.pid(), place: Some(Place::Network) }, &[]).expect("by the broker");
    let mappings = ask(OpenOf::Mappings { pid: held.pid() }, &[]).expect("by the broker");
    assert_eq!(mappings.files.len(), 1);
}

fn groups_of_others_are_out_of_reach() {
    let own = format!("whyslow-{}-0", std::process::id());
    let tops = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"].map(PathBuf::from);
    let Some(top) = tops.into_iter().find(|top| top.join("cgroup.procs").exists()) else { return };
    let above = top.join(&own).join("../other");
    for folder in [top.join("other"), top.join("whyslow-1-0"), above, Path::new("/tmp").join(&own)] {
        assert!(ask(MakeGroup { folder: folder.clone() }, &[]).is_err(), "{}", folder.display());
        assert!(!folder.exists(), "{}", folder.display());
    }
    for file in ["cgroup.procs", "cgroup.subtree_control", "../cpu.max"] {
        let (folder, file, value) = (top.join(&own), file.to_string(), "1".to_string());
        assert!(ask(SetGroup { folder, file, value }, &[]).is_err());
    }
    let pid = std::process::id();
    assert!(
        ask(Enter { folder: top.join(&own), pid }, &[]).is_err() && ask(Enter { folder: top, pid: 1 }, &[]).is_err()
    );
}

fn program(words: &[&str]) -> Program {
    let nothing = || Output::File("/dev/null".into());
    let arguments = words.iter().map(ToString::to_string).collect();
    Program { arguments, output: nothing(), errors: nothing(), ..Program::default() }
}

/// What a program writes.
fn said(program: Program) -> String {
    let output = tempfile::NamedTempFile::new().expect("a file");
    let program = Program { output: Output::File(output.path().into()), ..program };
    let mut running = program.hold().expect("held").release().expect("released");
    while running.poll().expect("ours to wait for").is_none() {
        std::thread::yield_now();
    }
    let mut text = String::new();
    output.reopen().expect("there").read_to_string(&mut text).expect("words");
    text
}

fn programs_run_as_nobody_but_the_caller_and_who_was_named() {
    assert_eq!(said(program(&["id", "-u"])), "65534\n", "who names nobody is the caller");
    assert_eq!(said(Program { user: Some(NAMED), ..program(&["id", "-u"]) }), "7\n");
    for user in [User { uid: 0, gid: 0 }, User { uid: 65_534, gid: 0 }, User { uid: 8, gid: 8 }] {
        assert!(Program { user: Some(user), ..program(&["id", "-u"]) }.hold().is_err(), "{user:?}");
    }
}

/// Trees of files are put together of what the caller can get at, where only root can put anything.
fn trees_show_the_caller_nothing_that_was_out_of_its_reach(secret: &Path) {
    let base = secret.ancestors().nth(2).expect("its place");
    let tree = |layers: &[&Path], shared: &[&Path], place: &Path, words: &[&str]| {
        let own = |paths: &[&Path]| paths.iter().map(|path| path.to_path_buf()).collect::<Vec<_>>();
        let root = Root { layers: own(layers), shared: own(shared), place: place.to_path_buf() };
        Program { root: Some(root), folder: Some("/".into()), ..program(words) }
    };
    let (host, system, place) = (Path::new("/"), Path::new("/proc"), base.join("place"));
    let of_host = |words: &[&str]| tree(&[host], &[system], &place, words);
    assert_eq!(said(of_host(&["id", "-u"])), "65534\n");
    let status = said(of_host(&["cat", "/proc/self/status"]));
    assert!(status.contains("NoNewPrivs:\t1"), "what seems to be the host's settings makes nobody root: {status}");
    let into = secret.display().to_string();
    assert_eq!(said(of_host(&["cat", &into])), "", "its folder is closed");
    assert!(
        tree(&[host], &[system], Path::new("/tmp"), &["true"]).hold().is_err(),
        "others can exchange what is there"
    );
    let (closed, inner) = (secret.parent().expect("a folder"), base.join("roots/inner"));
    assert!(tree(&[&inner, host], &[system], &place, &["true"]).hold().is_err(), "a layer behind a closed door");
    let shown = inner.join("secret").display().to_string();
    assert_eq!(said(tree(&[host], &[system, closed, &inner], &place, &["cat", &shown])), "", "nor is it shared");
    // A layer whose link leads to where the host hangs for a moment: root makes no folder there.
    let _ = tree(&[&base.join("layer"), host], &[system, &base.join("open-folder/link/new")], &place, &["true"]).hold();
    assert_eq!(fs::read_dir(base.join("victim")).expect("readable").count(), 0, "a folder was made on the host");
}

fn what_the_caller_may_not_read_is_not_mounted(secret: &Path) {
    let place = secret.ancestors().nth(2).expect("its place");
    let target = place.join("shown");
    let reading = |source: PathBuf| {
        let mounts = vec![Mount { source, target: target.clone() }];
        Program { mounts, ..program(&["cat", &target.display().to_string()]) }
    };
    assert_eq!(said(reading(place.join("open"))), "open\n");
    assert!(reading(secret.to_path_buf()).hold().is_err(), "a mount would open it to whoever may not enter its folder");
}

fn a_held_program_goes_though_the_broker_has_gone(held: record::Held) {
    let pid = held.pid();
    drop(held);
    assert!(!Path::new(&format!("/proc/{pid}")).exists(), "it was waited for");
}

fn the_kernels_addresses_are_shown() {
    let mut opened = ask(OpenKernelSymbols, &[]).expect("opened");
    let mut text = String::new();
    fs::File::from(opened.files.remove(0)).read_to_string(&mut text).expect("symbols");
    let is_shown =
        |line: &str| line.split(' ').next().is_some_and(|address| address.bytes().any(|digit| digit != b'0'));
    assert!(text.lines().any(is_shown));
}
