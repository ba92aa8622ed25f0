//! `kept-connections` in CPython, with a server that counts who comes.

use crate::preload::Preloaded;

/// Fetches a page three times, over a connection of its own each, from a server that keeps connections or does not; then forks, and
/// fetches it in the child. Prints what was read, and how many connections the server saw. A server that closes has its time for it.
const FETCHES: &str = r#"
import http.client, http.server, os, socket, sys, threading, time
seen = []
class Page(http.server.BaseHTTPRequestHandler):
    protocol_version = sys.argv[1]
    def setup(self):
        seen.append(self.client_address)
        super().setup()
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "4")
        self.end_headers()
        self.wfile.write(self.path[1:].encode())
    def log_message(self, *words):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
threading.Thread(target=server.serve_forever, daemon=True).start()
def fetch(number):
    if sys.argv[2] == "says goodbye":
        return farewell(number)
    connection = http.client.HTTPConnection(*server.server_address)
    connection.request("GET", f"/{number}")
    print(connection.getresponse().read().decode(), flush=True)
    connection.close()
    time.sleep(0.2)
def farewell(number):
    connection = socket.create_connection(server.server_address)
    connection.sendall(f"GET /{number} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
    if number == 1003:
        # The answer is still to come.
        connection.shutdown(socket.SHUT_WR)
    answer = b""
    while not answer.endswith(str(number).encode()):
        answer += connection.recv(1000)
    time.sleep(0.01)
    if number != 1003:
        connection.shutdown(socket.SHUT_WR)
    print(answer[-4:].decode(), "and" if connection.recv(1000) else "", sep="", flush=True)
    connection.close()
    time.sleep(0.2)
for number in (1001, 1002, 1003):
    fetch(number)
child = os.fork()
if child == 0:
    fetch(1004)
    os._exit(0)
os.waitpid(child, 0)
print(len(seen))
"#;

/// What is read, and over how many connections.
const PAGES: &str = "1001\n1002\n1003\n1004\n";

#[test]
fn a_connection_that_is_closed_serves_the_next_connect_of_the_same_process() {
    for (parameter, connections, spared) in [("on", 2, 2), ("inert", 4, 0)] {
        let preloaded = Preloaded::new(&[("kept-connections", parameter)]);
        assert_eq!(
            preloaded.python(FETCHES, &["HTTP/1.1", "closes"]),
            format!("{PAGES}{connections}\n"),
            "{parameter}"
        );
        assert_eq!(preloaded.counts("kept-connections").changed, spared);
    }
}

#[test]
fn a_connection_that_the_server_has_closed_is_opened_anew() {
    let preloaded = Preloaded::new(&[("kept-connections", "on")]);
    assert_eq!(preloaded.python(FETCHES, &["HTTP/1.0", "closes"]), format!("{PAGES}4\n"));
    assert_eq!(preloaded.counts("kept-connections").changed, 0);
}

#[test]
fn a_connection_on_which_nothing_more_is_to_come_is_kept_though_the_program_says_goodbye() {
    for (parameter, connections, spared) in [("on", 2, 2), ("inert", 4, 0)] {
        let preloaded = Preloaded::new(&[("kept-connections", parameter)]);
        let said = preloaded.python(FETCHES, &["HTTP/1.1", "says goodbye"]);
        assert_eq!(said, format!("{PAGES}{connections}\n"), "{parameter}");
        assert_eq!(preloaded.counts("kept-connections").changed, spared);
    }
}
