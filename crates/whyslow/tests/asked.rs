//! Servers that are asked on some connections at a time, and what is said of them.

use crate::stage::{Stage, free_port};
use case::Answer;
use testing::{beside_others, is_root};

/// Makes so many requests, one after the other, on each of some connections at a time; waits for its server to be there.
const CLIENT: &str = r"
import socket, sys, threading, time
host, port, connections, requests = sys.argv[1], *map(int, sys.argv[2:])
def connected():
    while True:
        try: return socket.create_connection((host, port))
        except OSError: time.sleep(0.05)
def work():
    connection = connected()
    for request in range(requests):
        connection.sendall(b'GET / HTTP/1.1\r\nHost: a\r\n\r\n')
        answer = b''
        while not answer.endswith(b'ok'): answer += connection.recv(4096)
threads = [threading.Thread(target=work) for _ in range(connections)]
for thread in threads: thread.start()
for thread in threads: thread.join()
";

/// What is said, without a proof, of a server that is started with an address and a port, and asked on some connections for so many
/// answers each; none where this machine does not let us record.
pub fn answer(stage: &Stage, server: &str, (connections, requests): (u32, u32), options: &[&str]) -> Option<Answer> {
    let _turn = beside_others();
    if !is_root() || !stage.can_record() {
        return None;
    }
    std::fs::write(stage.path("client.py"), CLIENT).expect("written");
    let port = free_port().to_string();
    let (serve, connections) = (format!("{server} {{server}} {port}"), connections.to_string());
    let ours = ["run", "--json", "--no-prove", "-o", "case", "--server", &serve];
    let client = ["--", "python3", "client.py", "{server}", &port, &connections, &requests.to_string()];
    let ran = stage.run(&[&ours[..], options, &client].concat()).answered();
    Some(serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}")))
}
