//! Locks of other languages that are held over a sleep: what threads wait for is named, and nobody is said to limit the rate of
//! requests who does not.

use crate::asked::answer;
use crate::stage::Stage;
use case::facts::{Observation, Wait};
use case::{Account, Answer};
use std::path::Path;
use std::process::Command;
use testing::{go, skip};

/// A thread for each connection, which is in its read before a request comes.
const JAVA: &str = r#"
import java.net.*;
public class Book {
    static final Object book = new Object();
    static void enter() throws Exception { synchronized (book) { Thread.sleep(5); } }
    static void serve(Socket client) {
        byte[] request = new byte[4096];
        try {
            client.setTcpNoDelay(true);
            while (client.getInputStream().read(request) > 0) {
                enter();
                client.getOutputStream().write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".getBytes());
            }
        } catch (Exception error) { }
    }
    public static void main(String[] words) throws Exception {
        ServerSocket listener = new ServerSocket(Integer.parseInt(words[1]), 64, InetAddress.getByName(words[0]));
        for (;;) { Socket client = listener.accept(); new Thread(() -> serve(client)).start(); }
    }
}"#;

const GO: &str = r#"package main
import ("net/http"; "os"; "sync"; "time")
var book sync.Mutex
func enter() { book.Lock(); defer book.Unlock(); time.Sleep(15 * time.Millisecond) }
func main() {
    http.HandleFunc("/", func(answer http.ResponseWriter, _ *http.Request) { enter(); answer.Write([]byte("ok")) })
    panic(http.ListenAndServe(os.Args[1] + ":" + os.Args[2], nil))
}
"#;

const ASYNCIO: &str = r"
import asyncio, sys
lock = asyncio.Lock()
async def serve(reader, writer):
    while await reader.read(4096):
        async with lock: await asyncio.sleep(0.005)
        writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
async def main():
    async with await asyncio.start_server(serve, sys.argv[1], int(sys.argv[2])) as server: await server.serve_forever()
asyncio.run(main())
";

const RUBY: &str = r#"
require 'socket'
BOOK = Mutex.new
def enter = BOOK.synchronize { sleep 0.005 }
listener = TCPServer.new(ARGV[0], ARGV[1].to_i)
loop do
  Thread.new(listener.accept) do |client|
    client.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    while (client.readpartial(4096) rescue nil)
      enter
      client.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    end
  end
end
"#;

/// Four processes, each with a connection, that keep a session in one file; with `early` they let go of it before they sleep.
const SESSIONS: &str = r"
import fcntl, os, socket, sys, time
def enter(session):
    with open(session, 'a') as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if sys.argv[2] != 'early': render()
        file.write('x')
    if sys.argv[2] == 'early': render()
def render(): time.sleep(0.005)
def work(listener):
    while True:
        connection = listener.accept()[0]
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while connection.recv(4096):
            enter(sys.argv[1])
            connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
listener = socket.create_server((sys.argv[3], int(sys.argv[4])))
for _ in range(3):
    if os.fork() == 0: work(listener)
work(listener)
";

/// A thread for each connection to a Unix socket, and a lock that is held over a sleep.
const UNIX: &str = r"
import os, socket, sys, threading, time
BOOK = threading.Lock()
def enter():
    with BOOK: time.sleep(0.005)
def serve(connection):
    while connection.recv(4096):
        enter()
        connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen(64)
while True: threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
";

/// nginx before it, in the folder that is its first argument.
const PROXY: &str = r#"
cd "$1"
python3 service.py "$1/service" &
until [ -S service ]; do sleep 0.02; done
cat > nginx.conf <<END
daemon off; user root; pid $1/pid; error_log $1/errors;
events {}
http { access_log off; client_body_temp_path $1/body; proxy_temp_path $1/proxy; fastcgi_temp_path $1/fastcgi;
       uwsgi_temp_path $1/uwsgi; scgi_temp_path $1/scgi; upstream service { server unix:$1/service; keepalive 8; }
       server { listen $2:$3; location / { proxy_pass http://service; proxy_http_version 1.1; proxy_set_header Connection ""; } } }
END
exec nginx -c "$1/nginx.conf"
"#;

fn names(answer: &Answer) -> Vec<&str> {
    answer.findings.iter().map(|finding| finding.name.as_str()).collect()
}

/// That requests wait most of their time for a lock, whose place is known, and that nothing else is made of it.
fn expect_convoy(answer: &Answer, place: &str) {
    assert_eq!(names(answer), ["lock-convoy"], "{:#?}", answer.findings);
    let finding = &answer.findings[0];
    assert!(finding.cost.share_of_wall > 0.5, "{finding:#?}");
    assert!(finding.place.iter().any(|one| one.module.contains(place)), "{finding:#?}");
    assert!(finding.mechanism[1].contains("blocked"), "{finding:#?}");
}

/// That requests wait for each other in a place that only the language's runtime knows; and it is said what the server waits for.
fn expect_turns_and_the_wait(answer: &Answer) {
    assert_eq!(names(answer), ["lock-convoy"], "{:#?}", answer.findings);
    let finding = &answer.findings[0];
    assert!(finding.place.is_empty() && finding.cost.share_of_wall > 0.5, "{finding:#?}");
    let heaviest = answer.heaviest.as_ref().expect("something is waited for");
    let Account::Blocked { wait, .. } = &heaviest.account else { panic!("{heaviest:#?}") };
    assert!(matches!(wait, Wait::Events | Wait::Lock), "{heaviest:#?}");
}

fn is_compiled(mut compiler: Command, what: &str) -> bool {
    match compiler.status() {
        Err(_) => {
            skip(&format!("{what} is not installed"));
            false
        }
        Ok(status) => {
            assert!(status.success());
            true
        }
    }
}

#[test]
fn a_lock_that_java_threads_sleep_with_is_a_convoy() {
    let stage = Stage::new();
    std::fs::write(stage.path("Book.java"), JAVA).expect("written");
    let mut compiler = Command::new("javac");
    compiler.arg("-d").arg(stage.path("")).arg(stage.path("Book.java"));
    if !is_compiled(compiler, "javac") {
        return;
    }
    let Some(answer) = answer(&stage, &format!("java -cp {} Book", stage.path("").display()), (4, 40), &[]) else {
        return;
    };
    expect_convoy(&answer, "libjvm.so");
}

#[test]
#[ignore = "long: make stories"]
fn a_lock_that_ruby_threads_sleep_with_is_a_convoy() {
    let stage = Stage::new();
    if Command::new("ruby").arg("-v").output().is_err() {
        return skip("ruby is not installed");
    }
    std::fs::write(stage.path("book.rb"), RUBY).expect("written");
    let Some(answer) = answer(&stage, &format!("ruby {}", stage.path("book.rb").display()), (4, 40), &[]) else {
        return;
    };
    expect_convoy(&answer, "ruby");
}

#[test]
fn a_sessions_file_that_is_locked_while_its_page_is_made_is_a_convoy() {
    for (when, is_convoy) in [("late", true), ("early", false)] {
        let stage = Stage::new();
        std::fs::write(stage.path("server.py"), SESSIONS).expect("written");
        let (server, session) = (stage.path("server.py"), stage.path("session"));
        let serve = format!("python3 {} {} {when}", server.display(), session.display());
        let Some(answer) = answer(&stage, &serve, (4, 40), &[]) else { return };
        let convoy = answer.findings.iter().find(|finding| finding.name == "lock-convoy");
        assert_eq!(convoy.is_some(), is_convoy, "{when}: {:#?}", answer.findings);
        let Some(finding) = convoy else { continue };
        assert!(finding.cost.share_of_wall > 0.5, "{finding:#?}");
        // Where they wait, and where whoever has it is meanwhile.
        assert_eq!((finding.place[0].function.as_str(), finding.place[0].line), ("enter", 5), "{finding:#?}");
        assert!(finding.mechanism[1].contains("blocked") && finding.mechanism[1].contains("in render"), "{finding:#?}");
        let said = stage.run(&["report", "case"]).answered().stdout;
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        // The request that is shown waits in the same place, for whomever.
        let waits = "for the server server.py (server.py:5 in enter), which waits";
        assert!(said.contains("A typical request (") && said.contains(waits), "{said}");
    }
}

#[test]
fn a_lock_in_a_service_behind_a_proxy_and_a_unix_socket_is_a_convoy() {
    let stage = Stage::new();
    if Command::new("nginx").arg("-v").output().is_err() {
        return skip("nginx is not installed");
    }
    std::fs::write(stage.path("service.py"), UNIX).expect("written");
    std::fs::write(stage.path("serve.sh"), PROXY).expect("written");
    let serve = format!("bash {} {}", stage.path("serve.sh").display(), stage.path("").display());
    let Some(answer) = answer(&stage, &serve, (4, 40), &[]) else { return };
    assert_eq!(names(&answer), ["lock-convoy"], "{:#?}", answer.findings);
    let finding = &answer.findings[0];
    assert!(finding.cost.share_of_wall > 0.5 && finding.place[0].function == "enter", "{finding:#?}");
    // Whose requests these are is said.
    let [Observation::Behind { client, server, requests: 160 }] = &finding.observed[..] else { panic!("{finding:#?}") };
    assert!(client == "nginx" && server == "service.py", "{finding:#?}");
}

#[test]
fn a_mutex_that_goroutines_sleep_with_is_a_convoy_and_no_rate_limit() {
    let stage = Stage::new();
    let Some(go) = go() else { return };
    std::fs::write(stage.path("main.go"), GO).expect("written");
    let mut compiler = Command::new(go);
    compiler.args(["build", "-o"]).arg(stage.path("book")).arg(stage.path("main.go")).env("GO111MODULE", "off");
    if !is_compiled(compiler, "go") {
        return;
    }
    let Some(answer) = answer(&stage, &program(&stage.path("book")), (4, 40), &[]) else { return };
    expect_turns_and_the_wait(&answer);
}

#[test]
#[ignore = "long: make stories"]
fn a_lock_that_tasks_of_an_event_loop_sleep_with_is_a_convoy_and_no_rate_limit() {
    let stage = Stage::new();
    std::fs::write(stage.path("book.py"), ASYNCIO).expect("written");
    let Some(answer) = answer(&stage, &format!("python3 {}", stage.path("book.py").display()), (4, 40), &[]) else {
        return;
    };
    expect_turns_and_the_wait(&answer);
}

fn program(path: &Path) -> String {
    path.display().to_string()
}
