//! A host that lets us make no control group: a container, or an ordinary user's session. Alone in its file, which is
//! run again where no hierarchy is mounted. Needs root for that; without it the test says so and passes.

mod fixture;

use fixture::{Fixture, is_root, processes_with, wait_until};
use lab::treatment::SocketOptions;
use lab::{Treatment, World};
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
    let fixture = Fixture::new("groupless");
    let launched = fixture.set("trap '' TERM; while :; do sleep 4741; done", &World::default(), &Treatment::default());
    assert!(
        launched.attached.notes()[0].contains("no control group could be created"),
        "{:?}",
        launched.attached.notes()
    );
    assert_eq!(fixture.journal.open_entries(), 1, "its session");
    let client = launched.client.release().expect("released");
    wait_until("it runs", || processes_with("sleep 4741").len() == 2);
    drop(client);
    drop(launched.attached);
    assert!(processes_with("sleep 4741").is_empty());
    fixture.is_left_as_found();
    sockets_are_set_by_a_shim(&fixture);
    let mut limited = World::default();
    limited.change("quota", "0.5").expect("understood");
    let subject = Fixture::subject("true", None);
    let set = lab::Launch::set(
        &subject,
        &limited,
        &Treatment::default(),
        &fixture.journal,
        &fixture.outputs(),
        lab::Kind::Trial,
    );
    assert!(set.is_err(), "a limit that was asked for is had or refused");
}

fn sockets_are_set_by_a_shim(fixture: &Fixture) {
    let script = "exec python3 -c \"import errno, socket\n\
                  listener = socket.create_server(('127.0.0.1', 0))\n\
                  connection = socket.create_connection(listener.getsockname())\n\
                  print(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY),\n                  socket.socket().connect_ex(('127.0.0.1', 9)) == errno.ENETUNREACH)\"";
    let unreachable = ["127.0.0.1:9".parse().expect("an address")].into();
    let sockets = Some(SocketOptions { nodelay: true, unreachable, ..SocketOptions::default() });
    let treatment = Treatment { sockets, ..Treatment::default() };
    let launched = fixture.set(script, &World::default(), &treatment);
    let mut client = launched.client.release().expect("released");
    wait_until("the client has ended", || client.poll().expect("polled").is_some());
    let counts = launched.attached.counters().sockets.expect("counted");
    assert_eq!((counts.nodelay, counts.unreachable), (1, 1));
    drop(launched.attached);
    assert_eq!(fixture.client_said(), "1 True\n");
    fixture.is_left_as_found();
}
