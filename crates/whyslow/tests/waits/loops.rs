//! Requests that wait for a server's only thread, or for who has a lock.

use super::*;

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
    // Where it does not: a loop whose own lines are not the program's, and the function that answers then, by its line.
    let Some(answer) = run(&client, "") else { return };
    let waits = main_branch(&answer).pop().expect("somebody waits");
    assert_eq!(waits.mostly_ended_by(), Some(&Ender::Timer), "{waits:#?}");
    assert!(waits.place.first().is_some_and(|place| place.line == 0), "{waits:#?}");
    let then = waits.then.first().expect("it goes on");
    assert_eq!((then.function.as_str(), then.line), ("reply", 4), "{waits:#?}");
    assert!(waits.then.iter().any(|place| place.file.contains("timers")), "{waits:#?}");
}
