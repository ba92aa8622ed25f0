//! Waits before a request: for a name, for whoever accepts, for a handshake.

use super::*;

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
