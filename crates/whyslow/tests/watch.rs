//! `whyslow watch`: real servers over time.

use crate::stage::{Background, Stage, free_port, wait_until};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::Duration;

/// CPython's own server of HTTP.
fn server() -> (Background, u16) {
    let port = free_port();
    let mut command = Command::new("python3");
    command.args(["-m", "http.server", "--bind", "127.0.0.1", &port.to_string()]);
    let server = Background(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("python3"));
    wait_until("a server", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    (server, port)
}

fn ask(port: u16) {
    let mut connection = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
    connection.write_all(b"GET /no-such-file HTTP/1.0\r\n\r\n").expect("asked");
    connection.read_to_end(&mut Vec::new()).expect("answered");
}

#[test]
fn requests_of_two_services_are_counted_and_shown_again() {
    let stage = Stage::new();
    if !stage.can_record() {
        return;
    }
    let ((_one, first), (_other, second)) = (server(), server());
    let services = [format!(":{first}"), format!(":{second}")];
    let options = ["watch", "--every", "1s", "--duration", "4s", "--json", &services[0], &services[1]];
    let watching = stage.whyslow(&options).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("whyslow");
    wait_until("the history", || stage.path("state/whyslow/history/watcher-0/open.arrows").exists());
    (0..30).for_each(|_| ask(first));
    (0..2).for_each(|_| ask(second));
    let ran = crate::stage::Ran::from(watching.wait_with_output().expect("an end"));
    assert!([0, 1].contains(&ran.code), "{ran:?}");
    let counted = |document: &serde_json::Value, port: u16| {
        let services = document["services"].as_array().expect("services");
        let is_it =
            |one: &&serde_json::Value| one["name"].as_str().is_some_and(|name| name.ends_with(&format!(":{port}")));
        services.iter().find(is_it).map(|one| one["requests"].clone())
    };
    let document = ran.json();
    assert_eq!(
        (counted(&document, first), counted(&document, second)),
        (Some(30.into()), Some(2.into())),
        "{document}"
    );
    assert_eq!(document["missing"], serde_json::json!([]));
    let shown = stage.run(&["watch", "show", "--since", "1h", "--html", "page.html", "--json"]);
    assert_eq!((counted(&shown.json(), first), counted(&shown.json(), second)), (Some(30.into()), Some(2.into())));
    // Each look is told apart, though the span that was asked for is an hour.
    assert!(shown.json()["services"][0]["series"].as_array().is_some_and(|points| points.len() > 1), "{shown:?}");
    let page = std::fs::read_to_string(stage.path("page.html")).expect("a page");
    assert!(page.contains("Services over time") && page.contains("<svg class=\"over-time wide"));
    let text = stage.run(&["watch", "show"]);
    assert!(
        text.stdout.contains("CPU/request") && text.stdout.lines().all(|line| line.chars().count() <= 80),
        "{text:?}"
    );
}

#[test]
fn a_watcher_that_is_killed_loses_nothing_that_it_saw() {
    let stage = Stage::new();
    let (_server, port) = server();
    let service = format!(":{port}");
    let mut watching = Background(
        stage.whyslow(&["watch", "--every", "1s", &service]).stderr(Stdio::null()).spawn().expect("whyslow"),
    );
    let open = stage.path("state/whyslow/history/watcher-0/open.arrows");
    wait_until("two intervals", || open.metadata().is_ok_and(|found| found.len() > 0));
    std::thread::sleep(Duration::from_millis(1_200));
    watching.0.kill().expect("killed");
    watching.0.wait().expect("collected");
    let seen_ns = |stage: &Stage| {
        let shown = stage.run(&["watch", "show", "--since", "10m", "--json"]).json();
        shown["services"][0]["length_ns"].as_u64().unwrap_or(0)
    };
    let kept = seen_ns(&stage);
    assert!(kept >= 900_000_000, "{kept}");
    let again = stage.run(&["watch", "--every", "1s", "--duration", "2500ms", "--json", &service]);
    assert!([0, 1].contains(&again.code), "{again:?}");
    assert!(seen_ns(&stage) >= kept + 2_000_000_000);
}

#[test]
fn what_cannot_be_watched_is_said() {
    let stage = Stage::new();
    let port = free_port();
    let [what, ..] = stage.run(&["watch", &format!(":{port}")]).error().map(str::to_string);
    assert_eq!(what, format!("whyslow: cannot watch :{port}"));
    stage.run(&["watch", "no-such-unit"]).error();
    stage.run(&["watch", "--every", "1ms", "1"]).error();
    stage.run(&["watch", "show", "--history", "nowhere"]).error();
    std::fs::write(stage.path("rules.toml"), "[[rule]]\nwhen = 'cpu > 5 ms'\n").expect("written");
    let own = std::process::id().to_string();
    stage.run(&["watch", "--alarms", "rules.toml", &own]).error();
}

/// A control group of a name like a systemd unit's; removed when dropped.
struct Unit(std::path::PathBuf);

impl Unit {
    /// Below `system.slice`, which is made where no systemd has made it; none where the kernel's groups cannot be written.
    fn new(name: &str) -> Option<Unit> {
        let mounts = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"].map(std::path::Path::new);
        let root = mounts.into_iter().find(|mount| mount.join("cgroup.procs").exists())?;
        let folder = root.join("system.slice").join(name);
        std::fs::create_dir_all(&folder).ok()?;
        Some(Unit(folder))
    }

    fn take(&self, pid: u32) {
        std::fs::write(self.0.join("cgroup.procs"), pid.to_string()).expect("moved");
    }
}

impl Drop for Unit {
    fn drop(&mut self) {
        // Empty once its last process is collected; the slice stays where others are in it.
        wait_until("an empty group", || std::fs::remove_dir(&self.0).is_ok());
        let _ = self.0.parent().map(std::fs::remove_dir);
    }
}

#[test]
fn a_unit_is_found_by_its_name_and_all_its_processes_count() {
    let stage = Stage::new();
    if !testing::is_root() || !stage.can_record() {
        return;
    }
    let name = format!("whyslow-test-{}", std::process::id());
    let Some(unit) = Unit::new(&format!("{name}.service")) else {
        return testing::skip("control groups cannot be made here");
    };
    let ((one, first), (other, second)) = (server(), server());
    unit.take(one.0.id());
    unit.take(other.0.id());
    let options = ["watch", "--every", "1s", "--duration", "4s", "--json", &name];
    let watching = stage.whyslow(&options).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("whyslow");
    wait_until("the history", || stage.path("state/whyslow/history/watcher-0/open.arrows").exists());
    (0..20).for_each(|_| ask(first));
    (0..5).for_each(|_| ask(second));
    let ran = crate::stage::Ran::from(watching.wait_with_output().expect("an end"));
    drop((one, other));
    let document = ran.json();
    let service = &document["services"][0];
    assert_eq!((&service["name"], &service["requests"]), (&name.into(), &25.into()), "{document}");
    assert_eq!(document["missing"], serde_json::json!([]));
}

#[test]
fn under_sudo_requests_are_counted_into_a_folder_of_the_callers() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    const CALLER: u32 = 65_534;
    let stage = Stage::new();
    if !testing::is_root() || !stage.can_record() {
        return;
    }
    std::fs::set_permissions(stage.path("."), std::fs::Permissions::from_mode(0o755)).expect("ours");
    std::fs::create_dir(stage.path("state")).expect("made");
    chown(stage.path("state"), Some(CALLER), Some(CALLER)).expect("root's right");
    let (_server, port) = server();
    let service = format!(":{port}");
    let mut command = stage.whyslow(&["watch", "--every", "1s", "--duration", "4s", "--json", &service]);
    command.env("SUDO_UID", CALLER.to_string()).env("SUDO_GID", CALLER.to_string());
    let watching = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("whyslow");
    let open = stage.path("state/whyslow/history/watcher-0/open.arrows");
    wait_until("the history", || open.exists());
    let owners = [open.as_path(), open.parent().expect("a folder")].map(|path| path.metadata().expect("there").uid());
    assert_eq!(owners, [CALLER; 2]);
    (0..12).for_each(|_| ask(port));
    let ran = crate::stage::Ran::from(watching.wait_with_output().expect("an end"));
    let document = ran.json();
    assert_eq!(document["services"][0]["requests"], serde_json::json!(12), "{document}");
}
