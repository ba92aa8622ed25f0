//! A hostile subject of the user who called sudo, and a victim that only root may write: what root does with the case's files
//! meanwhile reaches the victim by no link and by no exchanged folder.

use crate::stage::{Stage, shell};
use crate::undo::with_own_journals;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use testing::is_root;

/// Who called sudo, and whom the subject runs as.
const CALLER: u32 = 65_534;

/// What a case consists of, and what root writes there after the subject has begun.
const FILES: [&str; 8] = [
    "answer.json",
    "report.html",
    "manifest.json",
    "experiment.json",
    "trials",
    "tables/calls.parquet",
    "tables/calls.arrows",
    "tables/trials.arrows",
];

/// A folder and a file that are root's alone, and what they were like.
struct Victim {
    folder: PathBuf,
    file: PathBuf,
}

impl Victim {
    fn new(stage: &Stage) -> Victim {
        let folder = stage.path("victim");
        let file = folder.join("file");
        fs::create_dir(&folder).expect("made");
        fs::write(&file, "root's own\n").expect("written");
        fs::set_permissions(&file, Permissions::from_mode(0o600)).expect("root's");
        fs::set_permissions(&folder, Permissions::from_mode(0o755)).expect("root's");
        Victim { folder, file }
    }

    /// Nothing of it has changed: bytes, owner, and what is in its folder.
    fn expect_unchanged(&self, after: &str) {
        assert_eq!(fs::read_to_string(&self.file).expect("there"), "root's own\n", "after {after}");
        let found = self.file.metadata().expect("there");
        assert_eq!((found.uid(), found.mode() & 0o777), (0, 0o600), "after {after}");
        let inside = fs::read_dir(&self.folder).expect("there").count();
        assert_eq!(inside, 1, "after {after}: {}", shell(&format!("ls -la {}", self.folder.display())));
        assert_eq!(self.folder.metadata().expect("there").uid(), 0, "after {after}");
    }
}

/// Runs a subject as the caller of sudo, which does something to its own case and then some work.
fn attacked(stage: &Stage, does: &str) {
    let (uid, gid) = (CALLER.to_string(), CALLER.to_string());
    attacked_by(stage, does, &[], &[("SUDO_UID", &uid), ("SUDO_GID", &gid)]);
}

/// The same for root itself, who runs the subject as another user.
fn root_attacked(stage: &Stage, does: &str) {
    attacked_by(stage, does, &["--user", "nobody"], &[]);
}

fn attacked_by(stage: &Stage, does: &str, options: &[&str], variables: &[(&str, &str)]) {
    let port = crate::stage::free_port().to_string();
    let serve = format!("python3 -m http.server --bind 127.0.0.1 {port}");
    let client = format!("{does}; for i in 1 2 3 4 5 6; do curl -s -o /dev/null http://127.0.0.1:{port}/; done; true");
    let before = ["run", "--budget", "2", "--server", &serve, "-o", "home/case"];
    let words = [&before, options, &["--", "sh", "-c", &client]].concat();
    let output = stage.whyslow(&words).envs(variables.iter().copied()).output().expect("whyslow");
    // It may fail, for the case is broken; it does not panic.
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("panicked") && output.status.code().is_some(), "{does}: {output:?}");
}

/// A stage with a home that is the caller's, and a victim.
fn staged() -> Option<(Stage, Victim)> {
    let stage = Stage::new();
    if !is_root() || !stage.can_record() {
        return None;
    }
    fs::set_permissions(stage.path("."), Permissions::from_mode(0o755)).expect("the stage is ours");
    let home = stage.path("home");
    fs::create_dir(&home).expect("made");
    std::os::unix::fs::chown(&home, Some(CALLER), Some(CALLER)).expect("root's right");
    let victim = Victim::new(&stage);
    Some((stage, victim))
}

fn start_again(home: &Path) {
    fs::remove_dir_all(home).expect("removed");
    fs::create_dir(home).expect("made");
    std::os::unix::fs::chown(home, Some(CALLER), Some(CALLER)).expect("root's right");
}

#[test]
fn a_link_in_the_place_of_any_file_of_a_case_leads_nowhere() {
    let Some((stage, victim)) = staged() else { return };
    for name in FILES {
        let (case, target) = (stage.path("home/case"), victim.file.display());
        let place = case.join(name).display().to_string();
        attacked(&stage, &format!("rm -rf {place}; ln -s {target} {place}"));
        victim.expect_unchanged(name);
        start_again(&stage.path("home"));
    }
}

#[test]
fn a_case_that_was_exchanged_for_another_folder_takes_nothing_along() {
    let Some((stage, victim)) = staged() else { return };
    let (home, folder) = (stage.path("home").display().to_string(), victim.folder.display().to_string());
    let exchanges = [
        format!("mv {home}/case {home}/old; ln -s {folder} {home}/case"),
        format!("mv {home}/case/tables {home}/old; ln -s {folder} {home}/case/tables"),
        format!("mv {home}/case {home}/old; mkdir {home}/case; ln -s {folder} {home}/case/trials"),
        format!("rm -rf {home}/case; ln -s {folder} {home}/case"),
    ];
    for exchange in exchanges {
        attacked(&stage, &exchange);
        victim.expect_unchanged(&exchange);
        start_again(&stage.path("home"));
    }
}

/// Bisections and versions of libraries: what they keep in the cache for the caller is the caller's, and so is what leads from there.
#[test]
fn links_in_a_case_or_in_the_callers_cache_lead_nowhere_from_a_bisection_or_a_world() {
    let Some((stage, victim)) = staged() else { return };
    let home = stage.path("home").display().to_string();
    shell(&format!(
        "cd {home} && mkdir good bad && cp -L /usr/lib/*/libz.so.1 good/libz.so.1 && cp good/* bad && chown -R {CALLER} ."
    ));
    let [good, bad] = ["good", "bad"].map(|side| format!("libs:{home}/{side}"));
    let file = victim.file.display();
    let does = format!("rm -f {home}/case/bisection.json; ln -s {file} {home}/case/bisection.json; true");
    let uid = CALLER.to_string();
    let ran = |words: &[&str]| {
        let mut command = stage.whyslow(words);
        command.env("SUDO_UID", &uid).env("SUDO_GID", &uid).env("WHYSLOW_CACHE", stage.path("cache"));
        let output = command.output().expect("whyslow");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!said.contains("panicked") && output.status.code().is_some(), "{words:?}: {said}");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned() + &said)
    };
    ran(&["bisect", "--budget", "2", "--good", &good, "--bad", &bad, "-o", "home/case", "--", "sh", "-c", &does]);
    victim.expect_unchanged("a bisection");
    let (code, said) = ran(&["world", "run", &good, "--", "sh", "-c", "id -u; grep NoNewPrivs /proc/self/status"]);
    assert_eq!((code, said.as_str()), (Some(0), "65534\nNoNewPrivs:\t1\n"));
    // What root keeps the caller cannot read, and what the caller keeps may lead anywhere.
    let own = stage.path(&format!("cache/of-{CALLER}"));
    assert_eq!(own.metadata().expect("made").uid(), CALLER);
    std::os::unix::fs::symlink(&victim.folder, own.join("builds")).expect("linked");
    let words = ["matrix", "--library", "zstd=1.5.5,1.5.6", "-o", "home/matrix", "--", "true"];
    let mut offline = stage.whyslow(&words);
    let nowhere = format!("file://{}/nowhere", stage.path("").display());
    let offline = offline.env("SUDO_UID", &uid).env("SUDO_GID", &uid).env("WHYSLOW_CRATES_INDEX", nowhere);
    offline.env("WHYSLOW_CACHE", stage.path("cache")).output().expect("whyslow");
    let said = ran(&["bisect", "--good", "git:HEAD", "--bad", "git:HEAD", "-o", "home/git", "--", "true"]).1;
    victim.expect_unchanged(&format!("a cache that leads elsewhere: {said}"));
    // Nor is a folder of the caller's the cache of root's worlds.
    let mut command = stage.whyslow(&["world", "list"]);
    command.env("SUDO_UID", &uid).env("SUDO_GID", &uid).env("WHYSLOW_CACHE", stage.path("home/cache"));
    let output = command.output().expect("whyslow");
    assert!(String::from_utf8_lossy(&output.stderr).contains("others than root"), "{output:?}");
}

/// Root's own case is out of the subject's reach, but the folder that it stands in may be the subject's.
#[test]
fn for_root_without_sudo_no_link_and_no_exchanged_folder_leads_anywhere_either() {
    let Some((stage, victim)) = staged() else { return };
    let (home, folder) = (stage.path("home").display().to_string(), victim.folder.display().to_string());
    let file = victim.file.display();
    let attacks = [
        format!("mv {home}/case {home}/old; ln -s {folder} {home}/case"),
        format!("mv {home}/case {home}/old; mkdir {home}/case; ln -s {folder} {home}/case/tables"),
        format!(
            "mv {home}/case {home}/old; mkdir -p {home}/case/tables; for name in answer.json report.html manifest.json \
             experiment.json tables/calls.parquet; do ln -s {file} {home}/case/$name; done"
        ),
    ];
    for attack in attacks {
        root_attacked(&stage, &attack);
        victim.expect_unchanged(&attack);
        start_again(&stage.path("home"));
    }
}

#[test]
fn the_caller_cannot_have_root_write_a_case_where_only_root_may() {
    let Some((stage, victim)) = staged() else { return };
    let case = victim.folder.join("case").display().to_string();
    let mut command = stage.whyslow(&["run", "-o", &case, "--", "true"]);
    let uid = CALLER.to_string();
    let output = command.env("SUDO_UID", &uid).env("SUDO_GID", &uid).output().expect("whyslow");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("Permission denied"), "{said}");
    victim.expect_unchanged("a case in it");
}

/// What a journal says is done with root's rights: one that the caller can have written says nothing.
#[test]
fn a_journal_that_the_caller_forged_is_not_believed() {
    let Some((stage, _)) = staged() else { return };
    let (folder, group) = (stage.path("whyslow-1-0"), stage.path("home/whyslow-1-1"));
    let mut victim = Command::new("sleep").arg("60").spawn().expect("sleep");
    let journals = stage.path("home/state/whyslow/undo");
    for made in [&folder, &group, &journals] {
        fs::create_dir_all(made).expect("made");
    }
    fs::write(group.join("cgroup.procs"), victim.id().to_string()).expect("written");
    let noted = |number: u32, undo: serde_json::Value| {
        serde_json::json!({"noted": {"entry": number, "undo": undo}}).to_string() + "\n"
    };
    let forged = noted(0, serde_json::json!({"folder": {"path": folder}}))
        + &noted(1, serde_json::json!({"group": {"folder": group, "members": "ours"}}))
        + &noted(2, serde_json::json!({"session": {"leader": victim.id(), "started_ticks": 0}}));
    fs::write(journals.join("1-2.jsonl"), forged).expect("written");
    let mut undone = || {
        let mut command = with_own_journals(&stage, &["undo"]);
        command.env("SUDO_UID", CALLER.to_string()).env("SUDO_GID", CALLER.to_string());
        let output = command.env("XDG_STATE_HOME", stage.path("home/state")).output().expect("whyslow");
        (victim.try_wait().expect("ours").is_none(), format!("{output:?}"))
    };
    shell(&format!("chown -R {CALLER}:{CALLER} {}", stage.path("home").display()));
    let (lives, said) = undone();
    assert!(lives && folder.exists(), "all is the caller's: {said}");
    std::os::unix::fs::chown(&journals, Some(0), Some(0)).expect("root's right");
    let (lives, said) = undone();
    assert!(lives && folder.exists(), "the file is the caller's: {said}");
    // Root's own is believed, but for a control group that is none.
    std::os::unix::fs::chown(journals.join("1-2.jsonl"), Some(0), Some(0)).expect("root's right");
    let (lives, said) = undone();
    assert!(lives && !folder.exists() && said.contains("is not a control group"), "{said}");
    victim.kill().and_then(|()| victim.wait()).expect("ended");
}

#[test]
fn in_another_pid_namespace_nothing_is_recorded_and_the_reason_is_given() {
    let stage = Stage::new();
    if !is_root() || !stage.can_record() {
        return;
    }
    let inside = ["--pid", "--fork", "--mount-proc", env!("CARGO_BIN_EXE_whyslow")];
    let words = ["run", "-o", "case", "--", "true"];
    let mut command = std::process::Command::new("unshare");
    let output = command.args(inside).args(words).current_dir(stage.path(".")).output().expect("unshare");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("PID namespace") && said.contains("--pid=host"), "{said}");
    assert!(!Path::new(&stage.path("case")).exists(), "nothing is left");
}

/// A subject that tries to get at whoever started it, and says what it could do.
const ATTACKER: &str = r#"
import ctypes, os, time, urllib.request
libc = ctypes.CDLL(None, use_errno=True)
command = os.getppid()
near = [command] + [int(pid) for pid in open(f"/proc/{command}/task/{command}/children").read().split() if int(pid) != os.getpid()]
for pid in near:
    for name in ("mem", "environ", "maps", "fd/0", "root", "cwd", "exe"):
        try:
            os.stat(f"/proc/{pid}/{name}/.") if name in ("root", "cwd") else open(f"/proc/{pid}/{name}", "rb+" if name == "mem" else "rb").read(1)
            print("COULD", name, pid)
        except OSError:
            pass
    if libc.ptrace(16, pid, 0, 0) == 0:
        print("COULD trace", pid)
    handle = os.pidfd_open(pid)
    for descriptor in range(64):
        if libc.syscall(438, handle, descriptor, 0) >= 0:
            print("COULD take", descriptor, pid)
for descriptor in os.listdir("/proc/self/fd"):
    try:
        target = os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        continue
    if target.startswith("socket:") or "bpf" in target or "memfd" in target:
        print("HAS", target)
print("TRIED", len(near))
time.sleep(1.5)
"#;

/// A process of a whyslow's.
pub struct Role {
    pub pid: u32,
    /// The highest of its four users: real, effective, saved, and that for files.
    pub uid: u32,
    pub name: String,
}

/// What runs of a whyslow that was started; itself first.
pub fn roles(whyslow: u32) -> Vec<Role> {
    let mut pids = vec![whyslow];
    pids.extend(record::descendants(whyslow));
    let of = |pid: u32| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let line = |name: &str| status.lines().find_map(|line| line.strip_prefix(name));
        let ids = line("Uid:")?.split_whitespace().filter_map(|id| id.parse::<u32>().ok());
        Some(Role { pid, uid: ids.min()?, name: line("Name:")?.trim().to_string() })
    };
    pids.into_iter().filter_map(of).collect()
}

/// The names of processes that were root's, in order. A process has its parent's name until it gives itself its own, so that the
/// last one that it was seen with counts.
#[derive(Default)]
struct Roots(std::collections::BTreeMap<u32, String>);

impl Roots {
    fn see(&mut self, now: Vec<Role>) {
        self.0.extend(now.into_iter().filter(|role| role.uid == 0).map(|role| (role.pid, role.name)));
    }

    fn names(self) -> Vec<String> {
        let mut names: Vec<String> = self.0.into_values().collect();
        names.sort();
        names.dedup();
        names
    }
}

#[test]
fn under_sudo_only_the_broker_is_root_and_a_subject_gets_at_neither_role() {
    let Some((stage, _)) = staged() else { return };
    fs::write(stage.path("attacker.py"), ATTACKER).expect("written");
    let python = shell("python3 -c 'import sys; print(sys.executable)'");
    let words = ["run", "--no-prove", "-o", "home/case", "--", python.trim(), "attacker.py"];
    // An interpreter below a home of root's is not for others.
    let words = if python.starts_with("/usr") {
        words
    } else {
        [words[0], words[1], words[2], words[3], words[4], "/usr/bin/python3", words[6]]
    };
    let mut command = stage.whyslow(&words);
    command
        .env("SUDO_UID", CALLER.to_string())
        .env("SUDO_GID", CALLER.to_string())
        .stdout(std::process::Stdio::piped());
    let child = command.stderr(std::process::Stdio::null()).spawn().expect("whyslow");
    let (mut seen, mut had_subject) = (Roots::default(), false);
    let begun = std::time::Instant::now();
    while begun.elapsed() < testing::stretched(std::time::Duration::from_secs(20)) {
        let now = roles(child.id());
        let is_watching = now.iter().any(|role| role.name.starts_with("python3"));
        had_subject |= is_watching;
        if is_watching {
            seen.see(now);
        } else if had_subject {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let output = child.wait_with_output().expect("whyslow");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(had_subject && seen.names() == ["whyslow-broker"], "{said}");
    assert!(said.contains("TRIED 2"), "it found both roles: {said}");
    assert!(!said.contains("COULD") && !said.contains("HAS"), "{said}");
}

#[test]
fn doctor_finds_the_same_for_a_caller_of_sudo_as_for_root_and_is_the_callers() {
    let Some((stage, _)) = staged() else { return };
    let works = |document: &serde_json::Value| {
        let checks = document["checks"].as_array().expect("checks").iter();
        checks.map(|check| (check["name"].to_string(), check["works"].to_string())).collect::<Vec<_>>()
    };
    let as_root = stage.run(&["doctor", "--json"]);
    let mut command = stage.whyslow(&["doctor", "--json"]);
    command.env("SUDO_UID", CALLER.to_string()).env("SUDO_GID", CALLER.to_string());
    let mut child = command.stdout(std::process::Stdio::piped()).spawn().expect("whyslow");
    let mut seen = Roots::default();
    let begun = std::time::Instant::now();
    // Before it divides itself it is root for a moment, and under its own name.
    while begun.elapsed() < testing::stretched(std::time::Duration::from_secs(20)) {
        let now = roles(child.id());
        if now.iter().any(|role| role.uid == CALLER && role.name == "whyslow") {
            seen.see(now);
        }
        if child.try_wait().expect("whyslow").is_some() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let output = child.wait_with_output().expect("whyslow");
    let document = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    assert_eq!(works(&document), works(&as_root.json()), "{document}");
    assert_eq!(output.status.code(), Some(as_root.code), "{output:?}");
    assert_eq!(seen.names(), ["whyslow-broker"]);
}
