//! Waits are followed to whoever ended them, through threads, processes and connections: on real programs, none of which has
//! a cause that a detector knows.

mod databases;
mod looked_up;
mod loops;

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
/// The main branch but for time in which somebody waits for a processor, which on a busy machine can be most of it.
fn main_branch(answer: &Answer) -> Vec<&WaitNode> {
    let tree = answer.waits.as_ref().expect("waits were followed");
    let mut path = Vec::new();
    let (mut nodes, mut whole) = (&tree.branches, tree.of_ns);
    loop {
        let (delayed, others): (Vec<_>, Vec<_>) = nodes.iter().partition(|node| node.activity == Activity::RunDelay);
        let rest = whole.saturating_sub(delayed.iter().map(|node| node.ns).sum());
        let Some(node) = others.into_iter().max_by_key(|node| node.ns).filter(|node| node.ns * 2 >= rest) else {
            return path;
        };
        path.push(node);
        (nodes, whole) = (&node.waits_for, node.ns);
    }
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
