//! What a trial measures.

use crate::stage::Stage;
use testing::is_root;

/// Answers each request on a connection of its own.
const SERVER: &str = "
import socket, sys
listening = socket.create_server((sys.argv[1], int(sys.argv[2])), backlog=64)
while True:
    connection, _ = listening.accept()
    connection.recv(4096)
    connection.sendall(b'HTTP/1.0 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok')
    connection.close()
";
const CLIENT: &str = "
import socket, sys
for _ in range(8):
    with socket.create_connection((sys.argv[1], int(sys.argv[2]))) as connection:
        connection.sendall(b'GET / HTTP/1.0\\r\\n\\r\\n')
        while connection.recv(4096):
            pass
";

/// Nanoseconds an exchange over a link of 20 ms there and 20 ms back, with so many exchanges dropped first.
fn time_of_an_exchange(stage: &Stage, warm_up: u64) -> f64 {
    let spec = format!(
        "command = ['python3', '-c', '''{CLIENT}''', '{{server}}', '8123']\n\
         server = ['python3', '-c', '''{SERVER}''', '{{server}}', '8123']\n\
         warm_up = {warm_up}\nexchanges = 2\n[world]\nlink = 'mtu=1500,delay=20ms'\n"
    );
    std::fs::write(stage.path("trial.toml"), spec).expect("written");
    let ran = stage.run(&["trial", "--json", "-o", &format!("after-{warm_up}"), "trial.toml"]);
    ran.json()["wall_ns_per_exchange"].as_f64().unwrap_or_else(|| panic!("{ran:?}"))
}

#[test]
fn an_exchange_takes_as_long_after_one_that_is_dropped() {
    let stage = Stage::new();
    if !is_root() || !stage.can_record() {
        return;
    }
    // Its server has answered 20 ms before the client has the answer: what is dropped ends with the client's.
    let [all, later] = [0, 1].map(|warm_up| time_of_an_exchange(&stage, warm_up));
    assert!(later < 1.2 * all, "{all} {later}");
}
