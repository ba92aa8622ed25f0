//! Programs that ran before the meter came.

use super::processor_time::compile;
use super::*;
use std::process::{Child, Command, Stdio};

/// Answers for ever, 2 ms after each request, on as many connections as come.
const SERVER: &str = "
import socket, sys, threading, time
def serve(connection):
    while connection.recv(100):
        time.sleep(0.002)
        connection.sendall(b'y' * 300)
listener = socket.create_server(('127.0.0.1', int(sys.argv[1])))
while True:
    threading.Thread(target=serve, args=[listener.accept()[0]], daemon=True).start()
";

/// Asks for ever on one connection; keeps in a file how often it was answered.
const CLIENT: &str = "
import os, socket, sys
connection = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
file, made = os.open('made', os.O_WRONLY), 0
while True:
    connection.sendall(b'x' * 100)
    connection.recv(1000)
    made += 1
    os.pwrite(file, b'%d' % made, 0)
";

/// Both of them in one program each, in Go: `SELF serve PORT` and `SELF ask PORT`.
const GO: &str = r#"
package main

import ("net"; "os"; "strconv"; "time")

func serve(connection net.Conn) {
	buffer := make([]byte, 100)
	for {
		if _, err := connection.Read(buffer); err != nil { return }
		time.Sleep(2 * time.Millisecond)
		connection.Write(make([]byte, 300))
	}
}

func main() {
	address := "127.0.0.1:" + os.Args[2]
	if os.Args[1] == "serve" {
		listener, _ := net.Listen("tcp", address)
		for {
			connection, _ := listener.Accept()
			go serve(connection)
		}
	}
	connection, _ := net.Dial("tcp", address)
	file, _ := os.OpenFile("made", os.O_WRONLY, 0)
	buffer := make([]byte, 1000)
	for made := 1; ; made++ {
		connection.Write(make([]byte, 100))
		connection.Read(buffer)
		file.WriteAt([]byte(strconv.Itoa(made)), 0)
	}
}
"#;

struct Ours(Child);

impl Drop for Ours {
    fn drop(&mut self) {
        self.0.kill().expect("killed");
        self.0.wait().expect("collected");
    }
}

impl Bench {
    fn start(&self, words: &[&str]) -> Ours {
        let mut command = Command::new(words[0]);
        Ours(command.args(&words[1..]).current_dir(self.folder.path()).stdin(Stdio::null()).spawn().expect("started"))
    }

    fn made(&self) -> u64 {
        let text = std::fs::read_to_string(self.folder.path().join("made")).expect("read");
        text.trim().parse().unwrap_or(0)
    }

    /// Attaches to a conversation that goes on already, and compares what is counted with what the client has counted.
    fn counts_like_the_client(&mut self, server: &[&str], client: &[&str], attached: End) {
        std::fs::write(self.folder.path().join("made"), "").expect("made");
        let server = self.start(server);
        wait_until(|| crate::listens(server.0.id()));
        let client = self.start(client);
        wait_until(|| self.made() > 10);
        self.meter.clear();
        match attached {
            End::Client => self.meter.attach(client.0.id(), Role::Client).expect("attached"),
            End::Server => self.meter.attach(server.0.id(), Role::Server).expect("attached"),
        }
        let (first, begin) = (self.meter.read(), self.made());
        std::thread::sleep(Duration::from_secs(1));
        let (last, end) = (self.meter.read(), self.made());
        let (counted, made) = ((last.exchanges - first.exchanges) as f64, (end - begin) as f64);
        assert!(made > 20.0 && (counted / made - 1.0).abs() < 0.1, "{attached:?}: {counted} of {made}");
        let each = milliseconds(last.exchange_wall - first.exchange_wall) / counted;
        assert!((2.0..20.0).contains(&each), "{attached:?}: {each} ms");
        let middle = milliseconds(self.meter.lengths().quantile(0.5).expect("a length"));
        assert!((1.9..20.0).contains(&middle), "{attached:?}: {middle} ms");
        assert_eq!(
            (last.client_user.0 > 0, last.server_system.0 > 0),
            match attached {
                End::Client => (true, false),
                End::Server => (false, true),
            }
        );
        assert_eq!(last.unfollowed, 0);
    }
}

#[derive(Clone, Copy, Debug)]
enum End {
    Client,
    Server,
}

#[test]
fn a_running_client_or_server_is_counted_as_it_counts_itself() {
    let Some(mut bench) = Bench::new() else { return };
    for attached in [End::Client, End::Server] {
        let port = free_port();
        let python = |script: &'static str| ["/usr/bin/python3", "-c", script];
        let words = |script| [python(script).as_slice(), &[port.as_str()]].concat();
        bench.counts_like_the_client(&words(SERVER), &words(CLIENT), attached);
    }
}

#[test]
fn a_running_go_program_is_counted_as_it_counts_itself() {
    let Some(mut bench) = Bench::new() else { return };
    let Some(go) = testing::go() else { return };
    std::fs::write(bench.folder.path().join("talk.go"), GO).expect("written");
    let made = Command::new(go).args(["build", "talk.go"]).current_dir(bench.folder.path()).status();
    assert!(made.expect("go").success());
    let talk = bench.folder.path().join("talk").display().to_string();
    for attached in [End::Client, End::Server] {
        let port = free_port();
        bench.counts_like_the_client(&[&talk, "serve", &port], &[&talk, "ask", &port], attached);
    }
}

#[test]
fn what_a_server_accepts_in_a_call_that_it_waited_in_counts() {
    let Some(mut bench) = Bench::new() else { return };
    let port = free_port();
    let server = bench.start(&["/usr/bin/python3", "-c", super::SERVER, &port, "plain", "0"]);
    wait_until(|| crate::listens(server.0.id()));
    // It is in accept by then.
    std::thread::sleep(Duration::from_millis(50));
    bench.meter.attach(server.0.id(), Role::Server).expect("attached");
    let mut client = bench.run(&bench.python(super::CLIENT, &[&port, "plain", "kept"]), None);
    wait_for(&mut client);
    assert_eq!(bench.meter.read().exchanges, 23);
}

#[test]
fn the_threads_and_children_of_a_running_process_are_followed() {
    let Some(mut bench) = Bench::new() else { return };
    let busy = compile(bench.folder.path());
    let script = format!("{} 60000 & {} 60000 & wait", busy.display(), busy.display());
    let shell = bench.start(&["sh", "-c", &script]);
    wait_until(|| crate::descendants(shell.0.id()).len() == 2);
    bench.meter.attach(shell.0.id(), Role::Client).expect("attached");
    wait_until(|| milliseconds(bench.meter.read().client_user) > 100.0);
    let children = crate::descendants(shell.0.id());
    assert!(children.iter().all(|child| bench.meter.threads.get(child, 0).is_ok()));
    for child in children {
        crate::send_signal(child, libc::SIGKILL);
    }
}
