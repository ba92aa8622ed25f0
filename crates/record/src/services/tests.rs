use super::*;
use crate::alone::alone;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

/// A server in a process of its own: CPython's, of HTTP.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start() -> Server {
        let port = TcpListener::bind("127.0.0.1:0").and_then(|one| one.local_addr()).expect("a port").port();
        let folder = std::env::temp_dir();
        let child = Command::new("python3")
            .args(["-m", "http.server", "--bind", "127.0.0.1", &port.to_string()])
            .current_dir(folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("python3");
        let server = Server { child, port };
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        server
    }

    fn ask(&self, path: &str) -> usize {
        let mut connection = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        write!(connection, "GET {path} HTTP/1.0\r\n\r\n").expect("asked");
        let mut answer = Vec::new();
        connection.read_to_end(&mut answer).expect("an answer");
        answer.len()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn requests_connections_bytes_and_cpu_time_are_those_that_were_made() {
    if !testing::is_root() {
        return;
    }
    let _alone = alone();
    let (asked, other) = (Server::start(), Server::start());
    let selected = vec![Selected::Process(asked.child.id()), Selected::Port(other.port)];
    let mut services = Services::watch(selected, true).expect("watched");
    assert_eq!(services.missing(), [""; 0]);
    let received = (0..23).map(|_| asked.ask("/no-such-file")).sum::<usize>();
    let found = services.look();
    let [first, second] = &found[..] else { panic!("two services") };
    let sample = &first.sample;
    assert_eq!((sample.requests, sample.connections, sample.failures), (23, 23, 0), "{sample:?}");
    assert_eq!(sample.sent, received as u64);
    assert!(sample.answering > Nanos(0) && sample.calls > 23 * 4 && sample.memory > 1 << 20, "{sample:?}");
    assert_eq!((second.sample.requests, second.sample.processes), (0, 1), "{second:?}");
    let again = services.look();
    assert_eq!(again[0].sample.requests, 0, "what was told is not told again");
}

#[test]
fn a_service_that_is_started_anew_on_its_port_is_found_again() {
    if !testing::is_root() {
        return;
    }
    let _alone = alone();
    let mut server = Server::start();
    let mut services = Services::watch(vec![Selected::Port(server.port)], false).expect("watched");
    server.child.kill().and_then(|()| server.child.wait()).expect("ended");
    let gone = services.look();
    assert_eq!((gone[0].sample.processes, gone[0].sample.requests), (0, 0));
    server.child = Command::new("python3")
        .args(["-m", "http.server", "--bind", "127.0.0.1", &server.port.to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("python3");
    while TcpStream::connect(("127.0.0.1", server.port)).is_err() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let back = services.look();
    assert_eq!((back[0].sample.processes, back[0].main), (1, Some(server.child.id())));
    server.ask("/");
    assert_eq!(services.look()[0].sample.requests, 1);
}
