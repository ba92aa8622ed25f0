//! `kept-connections` in CPython, with a server that counts who comes.

use crate::preload::Preloaded;

/// Fetches a page three times, over a connection of its own each, from a server that keeps connections or does not; then forks, and
/// fetches it in the child. Prints what was read, and how many connections the server saw. A server that closes has its time for it.
const FETCHES: &str = r#"
import http.client, http.server, os, sys, threading, time
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
    connection = http.client.HTTPConnection(*server.server_address)
    connection.request("GET", f"/{number}")
    print(connection.getresponse().read().decode(), flush=True)
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
        assert_eq!(preloaded.python(FETCHES, &["HTTP/1.1"]), format!("{PAGES}{connections}\n"), "{parameter}");
        assert_eq!(preloaded.counts("kept-connections").changed, spared);
    }
}

#[test]
fn a_connection_that_the_server_has_closed_is_opened_anew() {
    let preloaded = Preloaded::new(&[("kept-connections", "on")]);
    assert_eq!(preloaded.python(FETCHES, &["HTTP/1.0"]), format!("{PAGES}4\n"));
    assert_eq!(preloaded.counts("kept-connections").changed, 0);
}
