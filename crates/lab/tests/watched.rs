//! A watched client on a real kernel: it is the user's. Alone in its file, since a server that is stopped takes with it
//! whatever else this process has started. Needs root; without it the test says so and passes.

mod fixture;

use fixture::{Fixture, groups_of_this_process, is_root, processes_with, wait_until};
use lab::{Kind, Launch, Server, Subject, Treatment, World};

#[test]
fn a_watched_client_runs_on_where_it_came_from_and_its_server_does_not() {
    if !is_root() {
        return;
    }
    let fixture = Fixture::new("watched");
    let listen =
        "exec python3 -c \"import socket, time; s = socket.create_server(('127.0.0.1', 0)); time.sleep(4723)\"";
    let launched =
        fixture.set_with_server("exec sleep 4724", listen, &World::default(), &Treatment::default(), Kind::Watched);
    let Launch { client, server, attached } = launched;
    let mut wait = |time| {
        std::thread::sleep(time);
        false
    };
    let server =
        Server::start(server.expect("a server"), &Subject::default(), vec![client.pid()], &mut wait).expect("listens");
    let mut client = client.release().expect("released");
    let own = std::fs::read_to_string("/proc/self/cgroup").expect("groups");
    let groups = || std::fs::read_to_string(format!("/proc/{}/cgroup", client.pid())).expect("groups");
    assert_ne!(groups(), own);
    drop(server);
    drop(attached);
    assert_eq!(groups(), own);
    assert_eq!(client.poll().expect("polled"), None, "it runs");
    assert_eq!(processes_with("time.sleep(4723)").len(), 0);
    client.signal(9);
    wait_until("it has ended", || client.poll().expect("polled").is_some());
    fixture.is_left_as_found();
    assert!(groups_of_this_process().is_empty());
}
