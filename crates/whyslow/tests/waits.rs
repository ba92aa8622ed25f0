//! Waits are followed to whoever ended them, through threads, processes and connections: on real programs, none of which has
//! a cause that a detector knows.

use crate::stage::{Stage, free_port};
use case::facts::{Awaited, Doing, Object, Wait};
use case::tables::{self, ender};
use case::{Account, AccountTime, Activity, Answer, Case, End, Ender, RequestKind, WaitNode};
use std::process::Command;
use testing::{beside_others, is_root, skip};

/// Makes as many requests as it is told to on each of some connections; waits for its server to be there.
const CLIENT: &str = r"
import socket, sys, threading, time
host, port, requests, connections = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
def connected():
    while True:
        try: return socket.create_connection((host, port))
        except OSError: time.sleep(0.05)
def work():
    connection = connected()
    for request in range(requests):
        connection.sendall(b'GET / HTTP/1.1\r\nHost: a\r\n\r\n')
        answer = b''
        while not answer.endswith(b'\r\n\r\nok'): answer += connection.recv(4096)
threads = [threading.Thread(target=work) for _ in range(connections)]
for thread in threads: thread.start()
for thread in threads: thread.join()
";

/// Answers each request after as many seconds as it is told to.
const UPSTREAM: &str = r"
import socket, sys, threading, time
listener, pause = socket.create_server(('127.0.0.1', int(sys.argv[1]))), float(sys.argv[2])
def serve(connection):
    while connection.recv(4096):
        if pause: time.sleep(pause)
        connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
";

/// What was said of a server under the client's requests; none where this machine does not let us record.
fn answered(stage: &Stage, server: &str, port: u16, requests: &str, connections: &str) -> Option<Answer> {
    answered_to(stage, CLIENT, server, port, requests, connections)
}

/// The same under another client.
fn answered_to(
    stage: &Stage,
    client: &str,
    server: &str,
    port: u16,
    requests: &str,
    connections: &str,
) -> Option<Answer> {
    let _turn = beside_others();
    if !is_root() || !stage.can_record() {
        return None;
    }
    std::fs::write(stage.path("client.py"), client).expect("written");
    let port = port.to_string();
    let ours = ["run", "--json", "--no-prove", "-o", "case", "--server", server];
    let client = ["--", "python3", "client.py", "{server}", &port, requests, connections];
    let ran = stage.run(&[&ours[..], &client].concat()).answered();
    Some(serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}")))
}

/// The steps that most of the time is followed through.
fn main_branch(answer: &Answer) -> Vec<&WaitNode> {
    answer.waits.as_ref().expect("waits were followed").main_branch()
}

fn waits(node: &WaitNode) -> Option<Wait> {
    match node.activity {
        Activity::Blocked { wait, .. } => Some(wait),
        _ => None,
    }
}

fn is_at(node: &WaitNode, file: &str) -> bool {
    node.place.iter().any(|place| place.file.ends_with(file))
}

/// That whoever is waited for in the end sleeps, in that file.
fn expect_sleep_at_the_end(answer: &Answer, file: &str) {
    let branch = main_branch(answer);
    let last = branch.last().expect("somebody is waited for");
    assert_eq!((waits(last), last.mostly_ended_by()), (Some(Wait::Sleep), Some(&Ender::Timer)), "{branch:#?}");
    assert!(last.regular && is_at(last, file), "{branch:#?}");
}

#[test]
fn a_proxy_that_waits_leads_to_the_server_behind_it() {
    let stage = Stage::new();
    if Command::new("nginx").arg("-v").output().is_err() {
        return skip("nginx is not installed");
    }
    std::fs::write(stage.path("upstream.py"), UPSTREAM).expect("written");
    let (port, quick, slow) = (free_port(), free_port(), free_port());
    let folder = stage.path("");
    let folder = folder.display();
    let script = format!(
        "cd {folder}\npython3 upstream.py {quick} 0 &\npython3 upstream.py {slow} 0.03 &\n\
         cat > nginx.conf <<END\ndaemon off; pid {folder}/pid; error_log {folder}/errors;\nevents {{}}\n\
         http {{ access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;\n\
         fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;\n\
         upstream behind {{ server 127.0.0.1:{quick} max_fails=0; server 127.0.0.1:{slow} max_fails=0; keepalive 8; }}\n\
         server {{ listen $1:{port}; location / {{ proxy_pass http://behind; proxy_http_version 1.1;\n\
         proxy_set_header Connection \"\"; }} }} }}\nEND\n\
         until (: </dev/tcp/127.0.0.1/{quick} && : </dev/tcp/127.0.0.1/{slow}) 2>/dev/null; do sleep 0.05; done\n\
         exec nginx -c {folder}/nginx.conf\n"
    );
    std::fs::write(stage.path("serve.sh"), script).expect("written");
    let serve = format!("bash {} {{server}}", stage.path("serve.sh").display());
    let Some(answer) = answered(&stage, &serve, port, "60", "2") else { return };
    let branch = main_branch(&answer);
    assert!(branch.len() >= 3 && branch[1].program == "nginx", "{branch:#?}");
    expect_sleep_at_the_end(&answer, "upstream.py");
    // The ledger books it on whoever it is waited for.
    let booked = booked_on(&answer, |by| sleeps_in(by, "upstream.py"));
    assert!(booked > 0.5, "{booked} of {:#?}", answer.ledger);
    // The case has it as rows, with the call that ended each wait.
    let rows: Vec<tables::Wait> = Case::open(&stage.path("case")).and_then(|case| case.read()).expect("a case");
    let by_threads = rows.iter().filter(|row| row.ended_by == ender::THREAD && row.ended_by_tid > 0);
    assert!(
        by_threads.filter(|row| row.ended_by_stack > 0 || row.ended_by_script_stack > 0).count() >= 60,
        "{}",
        rows.len()
    );
    // Nothing is wrong that a detector knows, and yet the wait is said, and not that nothing was found.
    let text = stage.run(&["report", "case"]).answered().stdout;
    assert!(text.contains("Who waits for whom") && text.contains("upstream.py"), "{text}");
    // One of the requests by itself, as it is shown.
    let request = answer.request.as_ref().expect("one is shown");
    let last = request.tree.main_branch().pop().expect("somebody is waited for");
    assert!(request.tree.followed == 1 && waits(last) == Some(Wait::Sleep), "{request:#?}");
    let markdown = stage.run(&["report", "case", "--format", "markdown"]).answered().stdout;
    let (_, rest) = markdown.split_once("Who waited for whom in a typical request").expect("it is said");
    let said = rest.lines().nth(2).expect("a sentence");
    assert!(said.contains("for nginx") || said.contains("for the server nginx"), "{said}");
    assert!(said.contains("which sleeps ") && said.contains("upstream.py"), "{said}");
}

#[test]
#[ignore = "long: make stories"]
fn a_pool_behind_a_mutex_leads_to_the_thread_that_sleeps_with_it() {
    let stage = Stage::new();
    let source = r#"
        #include <arpa/inet.h>
        #include <cstdlib>
        #include <cstring>
        #include <mutex>
        #include <thread>
        #include <unistd.h>
        std::mutex table;
        static void rebuild() { std::lock_guard<std::mutex> held(table); usleep(20000); }
        static void look_up() { std::lock_guard<std::mutex> held(table); }
        static void serve(int client) {
            char request[4096];
            while (read(client, request, sizeof request) > 0) {
                look_up();
                const char *answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
                if (write(client, answer, strlen(answer)) < 0) break;
            }
            close(client);
        }
        int main(int, char **words) {
            int listener = socket(AF_INET, SOCK_STREAM, 0);
            sockaddr_in address{};
            address.sin_family = AF_INET;
            address.sin_port = htons(atoi(words[2]));
            inet_pton(AF_INET, words[1], &address.sin_addr);
            if (bind(listener, (sockaddr *)&address, sizeof address)) return 1;
            listen(listener, 64);
            std::thread([] { for (;;) { rebuild(); usleep(100); } }).detach();
            for (;;) std::thread(serve, accept(listener, 0, 0)).detach();
        }"#;
    std::fs::write(stage.path("pool.cpp"), source).expect("written");
    let mut compiler = Command::new("g++");
    compiler.args(["-O1", "-g", "-pthread", "-o"]).arg(stage.path("pool")).arg(stage.path("pool.cpp"));
    match compiler.status() {
        Err(_) => return skip("g++ is not installed"),
        Ok(status) => assert!(status.success()),
    }
    let port = free_port();
    let serve = format!("{} {{server}} {port}", stage.path("pool").display());
    let Some(answer) = answered(&stage, &serve, port, "50", "4") else { return };
    let branch = main_branch(&answer);
    assert!(branch.iter().any(|node| waits(node) == Some(Wait::Lock)), "{branch:#?}");
    expect_sleep_at_the_end(&answer, "pool.cpp");
    assert!(answer.one_wait().is_some(), "{:?}", answer.heaviest);
}

#[test]
#[ignore = "long: make stories"]
fn the_interpreters_lock_leads_to_the_thread_that_computes() {
    let stage = Stage::new();
    let server = r"
import socket, sys, threading
def burn():
    while True: sum(range(1000))
def serve(connection):
    while connection.recv(4096): connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
listener = socket.create_server((sys.argv[1], int(sys.argv[2])))
threading.Thread(target=burn, daemon=True).start()
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
";
    std::fs::write(stage.path("server.py"), server).expect("written");
    let port = free_port();
    let serve = format!("python3 {} {{server}} {port}", stage.path("server.py").display());
    let Some(answer) = answered(&stage, &serve, port, "60", "1") else { return };
    let tree = answer.waits.as_ref().expect("waits were followed");
    let lock: u64 = tree.nodes().filter(|node| waits(node) == Some(Wait::Lock)).map(|node| node.ns).sum();
    let on_cpu = |node: &&WaitNode| node.activity == Activity::OnCpu && is_at(node, "server.py");
    let below = tree.nodes().filter(|node| waits(node) == Some(Wait::Lock)).flat_map(|node| &node.waits_for);
    let burning: u64 = below.filter(on_cpu).map(|node| node.ns).sum();
    assert!(lock * 10 > tree.of_ns && burning * 2 > lock, "lock {lock}, burning {burning} of {}", tree.of_ns);
}

#[test]
#[ignore = "long: make stories"]
fn a_pipeline_leads_to_the_child_that_sleeps() {
    let stage = Stage::new();
    let _turn = beside_others();
    if !is_root() || !stage.can_record() {
        return;
    }
    let pipeline = "seq 40 | while read number; do sleep 0.02; echo $number; done | sort -n | tail -1";
    let ran = stage.run(&["run", "--json", "--no-prove", "-o", "case", "--", "bash", "-c", pipeline]).answered();
    let document = ran.stdout.split_once('{').map(|(_, rest)| format!("{{{rest}")).expect("an answer");
    let answer: Answer = serde_json::from_str(&document).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let branch = main_branch(&answer);
    let last = branch.last().expect("somebody is waited for");
    assert_eq!((last.program.as_str(), waits(last)), ("sleep", Some(Wait::Sleep)), "{branch:#?}");
}

#[test]
#[ignore = "long: make stories"]
fn a_name_that_is_looked_up_for_each_request_leads_to_the_resolver() {
    let stage = Stage::new();
    let server = r"
import socket, sys, threading, time
resolver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
resolver.bind(('127.0.0.1', 0))
def resolve():
    while True:
        question, asked_by = resolver.recvfrom(512)
        time.sleep(0.02)
        resolver.sendto(question, asked_by)
threading.Thread(target=resolve, daemon=True).start()
def look_up():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.sendto(b'name', resolver.getsockname())
        asking.recvfrom(512)
listener = socket.create_server((sys.argv[1], int(sys.argv[2])))
while True:
    connection = listener.accept()[0]
    while connection.recv(4096):
        look_up()
        connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
";
    std::fs::write(stage.path("server.py"), server).expect("written");
    let port = free_port();
    let serve = format!("python3 {} {{server}} {port}", stage.path("server.py").display());
    let Some(answer) = answered(&stage, &serve, port, "40", "1") else { return };
    expect_sleep_at_the_end(&answer, "server.py");
}

#[test]
#[ignore = "long: make stories"]
fn a_handshake_leads_to_the_thread_that_accepts_late_and_a_look_up_to_the_resolver() {
    let stage = Stage::new();
    let folder = stage.path("");
    let folder = folder.display();
    let server = format!(
        r"
import socket, ssl, sys, threading, time
def resolve():
    resolver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    resolver.bind(('127.0.0.77', 53))
    while True:
        question, asked_by = resolver.recvfrom(512)
        time.sleep(0.02)
        head = question[:2] + b'\x81\x80' + question[4:6] + b'\0\1\0\0\0\0' + question[12:]
        resolver.sendto(head + b'\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\x7f\0\0\1', asked_by)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain('{folder}/cert.pem', '{folder}/key.pem')
def serve(connection):
    connection = context.wrap_socket(connection, server_side=True)
    connection.recv(4096)
    connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    connection.close()
threading.Thread(target=resolve, daemon=True).start()
listener = socket.create_server((sys.argv[1], int(sys.argv[2])))
while True:
    connection = listener.accept()[0]
    time.sleep(0.02)
    threading.Thread(target=serve, args=(connection,), daemon=True).start()
"
    );
    if !made_keys(&stage) {
        return skip("openssl is not installed");
    }
    std::fs::write(stage.path("server.py"), server).expect("written");
    // Each request looks a name up and makes a connection of its own.
    let look_up = r"        asking = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        asking.connect(('127.0.0.77', 53))
        asking.send(bytes([0, request]) + b'\1\0\0\1\0\0\0\0\0\0\4host\7example\0\0\1\0\1')
        asking.recv(512)
";
    let client = CLIENT
        .replace("import socket,", "import ssl, socket,")
        .replace("    connection = connected()\n", "    connected().close()\n")
        .replace(
            "    for request in range(requests):\n",
            &format!(
                "    for request in range(requests):\n{look_up}        \
                 connection = ssl._create_unverified_context().wrap_socket(connected())\n"
            ),
        );
    let port = free_port();
    let serve = format!("python3 {} {{server}} {port}", stage.path("server.py").display());
    let Some(answer) = answered_to(&stage, &client, &serve, port, "20", "2") else { return };
    let of = |is_it: &dyn Fn(&Account) -> bool| {
        let booked: u64 = answer.ledger.accounts.iter().filter(|one| is_it(&one.account)).map(|one| one.ns).sum();
        booked as f64 / answer.ledger.total.max(1) as f64
    };
    let asleep = |account: &Account| matches!(account, Account::Blocked { end: End::Server, wait: Wait::Sleep, .. });
    let shaking = of(&|account| matches!(account, Account::FullHandshake { .. }));
    let accepting = of(&|account| matches!(account, Account::FullHandshake { part: Some(part) } if asleep(part)));
    assert!(accepting > 0.15 && accepting > shaking / 2.0, "{accepting} of {shaking}: {:#?}", answer.ledger);
    let looking = of(&|account| match account {
        Account::Lookup { part: Some(part) } => match &**part {
            Account::Blocked { object: Some(Object::Awaited { by }), .. } => sleeps_in(by, "server.py"),
            _ => false,
        },
        _ => false,
    });
    assert!(looking > 0.1, "{looking} of {:#?}", answer.ledger);
}

/// Makes `key.pem` and `cert.pem`.
fn made_keys(stage: &Stage) -> bool {
    let mut keys = Command::new("openssl");
    keys.args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem"]);
    keys.args(["-subj", "/CN=a"]).current_dir(stage.path("")).output().is_ok()
}

/// What the text of a case begins with: its first sentences, on one line.
fn first_sentences(stage: &Stage) -> String {
    let text = stage.run(&["report", "case"]).answered().stdout;
    text.split("\n\n").next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The share of the server's time in the ledger that is booked on somebody else who did such a thing.
fn booked_on(answer: &Answer, is_it: impl Fn(&Awaited) -> bool) -> f64 {
    let by = |account: &Account| match account {
        Account::Blocked { object: Some(Object::Awaited { by }), .. } => is_it(by),
        _ => false,
    };
    let ledger = &answer.ledger;
    let of_server = |one: &&AccountTime| one.account.end() == Some(End::Server);
    let whole: u64 = ledger.accounts.iter().filter(of_server).map(|one| one.ns).sum();
    let booked: u64 = ledger.accounts.iter().filter(|one| by(&one.account)).map(|one| one.ns).sum();
    booked as f64 / whole.max(1) as f64
}

/// Whether somebody slept at a line of a file.
fn sleeps_in(by: &Awaited, file: &str) -> bool {
    let here = by.code.as_ref().is_some_and(|code| code.file.ends_with(file));
    here && matches!(by.doing, Doing::Blocked { wait: Wait::Sleep, .. })
}

#[test]
#[ignore = "long: make stories"]
fn a_pool_with_one_connection_leads_to_the_server_behind_it() {
    let stage = Stage::new();
    let source = r#"
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.concurrent.Executors;
public class Pool {
    static Socket only;
    static synchronized void ask() throws java.io.IOException {
        only.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes());
        only.getInputStream().read(new byte[4096]);
    }
    public static void main(String[] words) throws Exception {
        System.setProperty("sun.net.httpserver.nodelay", "true");
        only = new Socket("127.0.0.1", Integer.parseInt(words[2]));
        HttpServer server = HttpServer.create(new InetSocketAddress(words[0], Integer.parseInt(words[1])), 64);
        server.createContext("/", exchange -> {
            ask();
            exchange.sendResponseHeaders(200, 2);
            exchange.getResponseBody().write("ok".getBytes());
            exchange.close();
        });
        server.setExecutor(Executors.newFixedThreadPool(8));
        server.start();
    }
}"#;
    std::fs::write(stage.path("Pool.java"), source).expect("written");
    std::fs::write(stage.path("upstream.py"), UPSTREAM).expect("written");
    let folder = stage.path("");
    match Command::new("javac").arg("-d").arg(&folder).arg(stage.path("Pool.java")).status() {
        Err(_) => return skip("javac is not installed"),
        Ok(status) => assert!(status.success()),
    }
    let (port, upstream) = (free_port(), free_port());
    let script = format!(
        "cd {}\npython3 upstream.py {upstream} 0.02 &\n\
         until (: </dev/tcp/127.0.0.1/{upstream}) 2>/dev/null; do sleep 0.05; done\n\
         exec java -Dsun.net.httpserver.nodelay=true -cp . Pool $1 {port} {upstream}\n",
        folder.display()
    );
    std::fs::write(stage.path("serve.sh"), script).expect("written");
    let serve = format!("bash {} {{server}}", stage.path("serve.sh").display());
    let client = CLIENT.replace(r"not answer.endswith(b'\r\n\r\nok')", r"not answer.endswith(b'ok')");
    let Some(answer) = answered_to(&stage, &client, &serve, port, "20", "4") else { return };
    expect_sleep_at_the_end(&answer, "upstream.py");
    let booked = booked_on(&answer, |by| sleeps_in(by, "upstream.py"));
    assert!(booked > 0.5, "{booked} of {:#?}", answer.ledger);
}

#[test]
#[ignore = "long: make stories"]
fn a_go_server_leads_to_the_disk_that_its_database_waits_for() {
    let stage = Stage::new();
    let database = r"
import os, socket, sys, threading
listener = socket.create_server(('127.0.0.1', int(sys.argv[1])))
file = os.open(sys.argv[2], os.O_CREAT | os.O_WRONLY)
def serve(connection):
    while connection.recv(4096):
        for _ in range(8):
            os.write(file, b'x' * 60000)
            os.fsync(file)
        connection.sendall(b'OK')
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
";
    let source = r#"package main
import ("net"; "net/http"; "os")
func main() {
    database, err := net.Dial("tcp", "127.0.0.1:" + os.Args[2])
    if err != nil { panic(err) }
    http.HandleFunc("/", func(answer http.ResponseWriter, _ *http.Request) {
        database.Write([]byte("SET"))
        database.Read(make([]byte, 10))
        answer.Write([]byte("ok"))
    })
    panic(http.ListenAndServe(os.Args[1], nil))
}
"#;
    std::fs::write(stage.path("database.py"), database).expect("written");
    std::fs::write(stage.path("main.go"), source).expect("written");
    let mut compiler = Command::new("go");
    compiler.args(["build", "-o"]).arg(stage.path("store")).arg(stage.path("main.go"));
    match compiler.env("GO111MODULE", "off").status() {
        Err(_) => return skip("go is not installed"),
        Ok(status) => assert!(status.success()),
    }
    let (port, behind) = (free_port(), free_port());
    let folder = stage.path("");
    let script = format!(
        "cd {}\npython3 database.py {behind} data &\n\
         until (: </dev/tcp/127.0.0.1/{behind}) 2>/dev/null; do sleep 0.05; done\nexec ./store $1:{port} {behind}\n",
        folder.display()
    );
    std::fs::write(stage.path("serve.sh"), script).expect("written");
    let serve = format!("bash {} {{server}}", stage.path("serve.sh").display());
    let client = CLIENT.replace(r"not answer.endswith(b'\r\n\r\nok')", r"not answer.endswith(b'ok')");
    let Some(answer) = answered_to(&stage, &client, &serve, port, "60", "1") else { return };
    let nodes = answer.waits.as_ref().expect("waits were followed").nodes();
    let syncs = nodes.filter(|node| matches!(&node.activity, Activity::Blocked { call, .. } if call == "fsync"));
    let syncs: Vec<&WaitNode> = syncs.filter(|node| node.end == Some(End::Server)).collect();
    assert!(syncs.iter().any(|node| is_at(node, "database.py")), "{:#?}", answer.waits);
    let is_sync = |by: &Awaited| matches!(&by.doing, Doing::Blocked { call, .. } if call == "fsync");
    assert!(booked_on(&answer, is_sync) > 0.0, "{:#?}", answer.ledger);
}

#[test]
#[ignore = "long: make stories"]
fn a_perl_server_with_one_worker_has_its_clients_wait_in_line() {
    let stage = Stage::new();
    let server = r#"
use IO::Socket::INET;
my $listener = IO::Socket::INET->new(LocalAddr => $ARGV[0], LocalPort => $ARGV[1], Listen => 64, ReuseAddr => 1) or die;
while (my $client = $listener->accept) {
    sysread $client, my $request, 4096;
    select undef, undef, undef, 0.02;
    syswrite $client, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
    close $client;
}
"#;
    if Command::new("perl").args(["-MIO::Socket::INET", "-e", "1"]).output().is_err() {
        return skip("perl is not installed");
    }
    std::fs::write(stage.path("server.pl"), server).expect("written");
    let client = CLIENT.replace("    connection = connected()\n", "").replace(
        "    for request in range(requests):\n",
        "    for request in range(requests):\n        connection = connected()\n",
    );
    let port = free_port();
    let serve = format!("perl {} {{server}} {port}", stage.path("server.pl").display());
    let Some(answer) = answered_to(&stage, &client, &serve, port, "20", "4") else { return };
    let queue = answer.queue.as_ref().expect("a server was recorded");
    assert!(queue.threads == 1 && queue.most >= 2 && queue.share() > 0.3, "{queue:#?}");
    assert!(first_sentences(&stage).contains("in line for the server's only"), "{}", first_sentences(&stage));
}

#[test]
#[ignore = "long: make stories"]
fn the_request_that_holds_an_event_loop_and_those_that_wait_behind_it_are_named() {
    let stage = Stage::new();
    let server = r"
import asyncio, sys
def render(): return sum(number * number for number in range(400000))
async def serve(reader, writer):
    while request := await reader.read(4096):
        if request.startswith(b'GET /render'): render()
        writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
async def main():
    async with await asyncio.start_server(serve, sys.argv[1], int(sys.argv[2])) as server: await server.serve_forever()
asyncio.run(main())
";
    std::fs::write(stage.path("server.py"), server).expect("written");
    let client = CLIENT.replace(
        r"b'GET / HTTP/1.1\r\nHost: a\r\n\r\n'",
        r"(b'GET /render' if threading.current_thread() is threads[0] else b'GET /ping') + b' HTTP/1.1\r\nHost: a\r\n\r\n'",
    );
    let port = free_port();
    let serve = format!("python3 {} {{server}} {port}", stage.path("server.py").display());
    let Some(answer) = answered_to(&stage, &client, &serve, port, "25", "4") else { return };
    let queue = answer.queue.as_ref().expect("a server was recorded");
    let path = |path: &str| RequestKind::Http { method: "GET".into(), path: path.into() };
    assert_eq!(queue.holder().map(|holder| &holder.kind), Some(&path("/render")), "{queue:#?}");
    let ping = queue.kinds.iter().find(|kind| kind.kind == path("/ping")).expect("pings");
    assert!(ping.waited_ns > ping.usual_ns, "{queue:#?}");
    let said = first_sentences(&stage);
    assert!(said.contains("behind GET /render") && said.contains("a GET /ping waits"), "{said}");
}

#[test]
#[ignore = "long: make stories"]
fn the_lock_that_most_of_a_request_waits_for_is_said_before_its_handshakes() {
    let stage = Stage::new();
    let server = r"
import socket, ssl, sys, threading, time
table = threading.Lock()
def rebuild():
    while True:
        with table: time.sleep(0.03)
        time.sleep(0.0005)
def look_up():
    with table: pass
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain('cert.pem', 'key.pem')
def serve(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection = context.wrap_socket(connection, server_side=True)
    while connection.recv(4096):
        look_up()
        connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
listener = socket.create_server((sys.argv[1], int(sys.argv[2])))
threading.Thread(target=rebuild, daemon=True).start()
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
";
    let folder = stage.path("");
    if !made_keys(&stage) {
        return skip("openssl is not installed");
    }
    std::fs::write(
        stage.path("server.py"),
        server.replace("'cert.pem', 'key.pem'", &format!("'{0}/cert.pem', '{0}/key.pem'", folder.display())),
    )
    .expect("written");
    let client =
        CLIENT.replace("import socket,", "import ssl, socket,").replace("    connection = connected()\n", "").replace(
            "    for request in range(requests):\n",
            "    for request in range(requests):\n        if request % 10 == 0: \
             connection = ssl._create_unverified_context().wrap_socket(connected())\n",
        );
    let port = free_port();
    let serve = format!("python3 {} {{server}} {port}", stage.path("server.py").display());
    let Some(answer) = answered_to(&stage, &client, &serve, port, "40", "2") else { return };
    expect_sleep_at_the_end(&answer, "server.py");
    let said = first_sentences(&stage);
    assert!(said.contains("lock") && said.contains("in look_up") && said.contains("in rebuild"), "{said}");
}

/// Waits for a time before it answers, and computes before another answer.
const EVENTS: &str = r"
const http = require('http');
function spin() { for (const end = Date.now() + 5; Date.now() < end;); }
function later(answer) { setTimeout(function reply() { answer.end('ok'); }, 10); }
http.createServer(function serve(request, answer) {
    if (request.url === '/spin') { spin(); answer.end('ok'); } else later(answer);
}).listen(+process.argv[3], process.argv[2]);
";

#[test]
fn an_event_loop_whose_code_is_compiled_in_memory_is_not_said_to_be_at_its_librarys_lines() {
    let stage = Stage::new();
    if Command::new("node").arg("-v").output().is_err() {
        return skip("node is not installed");
    }
    std::fs::write(stage.path("server.js"), EVENTS).expect("written");
    let client = CLIENT.replace(r"not answer.endswith(b'\r\n\r\nok')", r"not answer.endswith(b'ok')");
    let spinning = client.replace("GET / ", "GET /spin ");
    let run = |client: &str, options: &str| {
        let _ = std::fs::remove_dir_all(stage.path("case"));
        let port = free_port();
        let serve = format!("node {options} {} {{server}} {port}", stage.path("server.js").display());
        answered_to(&stage, client, &serve, port, "60", "1")
    };
    // Where the runtime writes down what it compiles: the function that computes, by its line.
    let Some(answer) = run(&spinning, "--perf-basic-prof") else { return };
    // On a busy machine it waits for a processor as well, maybe for longer.
    let all = main_branch(&answer).into_iter().flat_map(|node| &node.waits_for);
    let on_cpu = all.filter(|node| node.activity == Activity::OnCpu).max_by_key(|node| node.ns);
    let on_cpu = on_cpu.unwrap_or_else(|| panic!("somebody computes: {:#?}", answer.waits));
    let _ = on_cpu.pid.map(|pid| std::fs::remove_file(format!("/tmp/perf-{pid}.map")));
    assert_eq!((on_cpu.place[0].function.as_str(), on_cpu.place[0].line), ("spin", 3), "{on_cpu:#?}");
    assert!(is_at(on_cpu, "server.js"), "{on_cpu:#?}");
    // Where it does not, what is known and nothing else: a loop, and what ran the code that answers.
    let Some(answer) = run(&client, "") else { return };
    let waits = main_branch(&answer).pop().expect("somebody waits");
    assert_eq!(waits.mostly_ended_by(), Some(&Ender::Timer), "{waits:#?}");
    assert!(waits.place.first().into_iter().chain(&waits.then).all(|place| place.line == 0), "{waits:#?}");
    assert!(waits.then.iter().any(|place| place.function.contains("timers")), "{waits:#?}");
}
