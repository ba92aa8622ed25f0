//! A host that lets us make no control group: a container, or an ordinary user's session. Alone in its file, which is
//! run again where no hierarchy is mounted. Needs root for that; without it the test says so and passes.

mod scene;

use lab::arrangement::Sockets;
use lab::{Arrangement, World};
use scene::{Scene, is_root, processes_with, wait_until};
use std::process::Command;

const INSIDE: &str = "WHYSLOW_TEST_WITHOUT_GROUPS";

#[test]
fn without_control_groups_a_trial_goes_on_says_so_and_still_ends_what_it_started() {
    if !is_root() {
        return;
    }
    if std::env::var_os(INSIDE).is_some() {
        return goes_on_and_ends_what_it_started();
    }
    let own = std::env::current_exe().expect("a path");
    let script = "umount -l -R /sys/fs/cgroup && exec \"$0\" --nocapture";
    let mut again = Command::new("unshare");
    again.args(["--mount", "sh", "-c", script]).arg(own).env(INSIDE, "1");
    let output = again.output().expect("unshare");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn goes_on_and_ends_what_it_started() {
    let scene = Scene::new("groupless");
    let staged = scene.set("trap '' TERM; while :; do sleep 4741; done", &World::default(), &Arrangement::default());
    assert!(staged.attached.notes()[0].contains("no control group could be made"), "{:?}", staged.attached.notes());
    assert_eq!(scene.journal.open_entries(), 1, "its session");
    let client = staged.client.release().expect("released");
    wait_until("it runs", || processes_with("sleep 4741").len() == 2);
    drop(client);
    drop(staged.attached);
    assert!(processes_with("sleep 4741").is_empty());
    scene.is_left_as_found();
    sockets_are_set_by_a_shim(&scene);
    let mut limited = World::default();
    limited.change("quota", "0.5").expect("understood");
    let subject = Scene::subject("true", None);
    let set = lab::Stage::set(
        &subject,
        &limited,
        &Arrangement::default(),
        &scene.journal,
        &scene.outputs(),
        lab::Kind::Trial,
    );
    assert!(set.is_err(), "a limit that was asked for is had or refused");
}

fn sockets_are_set_by_a_shim(scene: &Scene) {
    let script = "exec python3 -c \"import socket\n\
                  listener = socket.create_server(('127.0.0.1', 0))\n\
                  connection = socket.create_connection(listener.getsockname())\n\
                  print(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))\"";
    let sockets = Some(Sockets { nodelay: true, delayed_ack_cap: None });
    let arrangement = Arrangement { sockets, ..Arrangement::default() };
    let staged = scene.set(script, &World::default(), &arrangement);
    let mut client = staged.client.release().expect("released");
    wait_until("the client has ended", || client.poll().expect("polled").is_some());
    assert_eq!(staged.attached.traces().sockets.map(|counts| counts.nodelay), Some(1));
    drop(staged.attached);
    assert_eq!(scene.client_said(), "1\n");
    scene.is_left_as_found();
}
