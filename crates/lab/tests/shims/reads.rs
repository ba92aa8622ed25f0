//! Shims that stand before reads: bytes come whole, in order and to whom they belong, and polls tell the truth.

use crate::preload::{Preloaded, text_of};
use lab::intervention_counters::ShimCounts;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A server of one connection, on a thread; its port.
fn serve<T: Send + 'static>(handle: impl FnOnce(TcpStream) -> T + Send + 'static) -> (String, JoinHandle<T>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port().to_string();
    (port, std::thread::spawn(move || handle(listener.accept().expect("a client").0)))
}

/// Answers each line, a number, with as many bytes that tell their place in the whole stream.
fn lines_of_any_length(client: &TcpStream) -> usize {
    client.set_nodelay(true).expect("set");
    let mut replies = client;
    let mut sent = 0;
    let mut requests = BufReader::new(client).lines();
    while let Some(Ok(line)) = requests.next() {
        let length: usize = line.parse().expect("a number");
        let bytes: Vec<u8> = (sent..sent + length).map(place).collect();
        replies.write_all(&bytes).expect("written");
        sent += length;
    }
    sent
}

fn place(at: usize) -> u8 {
    ((at * 31 + at / 1000) % 251) as u8
}

const REPLY_BYTE_BY_BYTE: &str = r#"
import socket, sys
connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
for length in 4096, 1, 300, 40000:
    connection.sendall(b"%d\n" % length)
    for _ in range(length):
        assert len(connection.recv(1)) == 1
print("done")
"#;

fn byte_by_byte(shims: &[(&str, &str)]) -> ShimCounts {
    let preloaded = Preloaded::new(shims);
    let (port, server) = serve(|client| lines_of_any_length(&client));
    assert_eq!(preloaded.python(REPLY_BYTE_BY_BYTE, &[&port]), "done\n");
    assert_eq!(server.join().expect("the server ends"), 44_397);
    preloaded.counts("read-buffer")
}

#[test]
fn nearly_all_tiny_reads_make_no_call() {
    let counts = byte_by_byte(&[("read-buffer", "on")]);
    assert_eq!(counts.seen, 44_397);
    assert!(counts.changed > 44_300, "{counts:?}");
}

#[test]
fn an_inert_shim_lets_every_read_through() {
    let counts = byte_by_byte(&[("read-buffer", "inert")]);
    assert_eq!((counts.loaded, counts.changed), (1, 0));
}

#[test]
fn it_works_in_a_chain_with_shims_of_the_same_calls() {
    let chains = [
        ["read-buffer", "coalesce-writes", "answer-100-continue"],
        ["answer-100-continue", "coalesce-writes", "read-buffer"],
    ];
    for chain in chains {
        let counts = byte_by_byte(&chain.map(|name| (name, "on")));
        assert!(counts.changed > 44_300, "{chain:?}: {counts:?}");
    }
}

/// Reads what comes by every call in pieces of every size, asks how much is unread, peeks, duplicates the descriptor,
/// lets children read, and checks every byte's place.
const ALL_KINDS: &str = r#"
import array, fcntl, os, random, select, socket, sys, termios
random.seed(int(sys.argv[2]))
connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
at = asked = 0
if sys.argv[2] == "3":
    connection.settimeout(5)
if sys.argv[2] == "4":
    connection.setblocking(False)
epoll = select.epoll()
epoll.register(connection, select.EPOLLIN | (select.EPOLLET if sys.argv[2] == "2" else 0))
def check(piece):
    global at
    assert piece == bytes(((i * 31 + i // 1000) % 251) for i in range(at, at + len(piece))), at
    at += len(piece)
for round in range(300):
    length = random.choice((1, 5, 200, 3000, 20000))
    connection.sendall(b"%d\n" % length)
    asked += length
    while at < asked:
        kind = random.randrange(40)
        size = random.choice((1, 2, 4, 5, 100, 256, 1024))
        if sys.argv[2] in "34":
            assert select.select([connection], [], [], 5)[0]
        if kind < 25:
            check(connection.recv(size))
        elif kind < 28:
            check(os.read(connection.fileno(), size))
        elif kind == 28:
            check(connection.recv(5000))
        elif kind == 29:
            into = bytearray(min(size, 9))
            check(bytes(into[:connection.recvmsg_into([into])[0]]))
        elif kind == 30:
            into = [bytearray(2), bytearray(3)]
            count = os.readv(connection.fileno(), into)
            check(b"".join(into)[:count])
        elif kind == 31:
            peeked = connection.recv(size, socket.MSG_PEEK)
            assert peeked and peeked == bytes(((i * 31 + i // 1000) % 251) for i in range(at, at + len(peeked)))
        elif kind == 32:
            unread = array.array("i", [0])
            fcntl.ioctl(connection, termios.FIONREAD, unread)
            assert unread[0] <= asked - at
        elif kind == 33 and sys.argv[2] not in "34":
            check(connection.recv(min(size, asked - at), socket.MSG_WAITALL))
        elif kind == 34:
            twin = connection.dup()
            if sys.argv[2] == "4":
                twin.setblocking(False)
            check(twin.recv(size))
            twin.close()
        elif kind == 35 and round > 250 and random.random() < 0.1:
            pid = os.fork()
            if not pid:
                piece = connection.recv(3)
                ok = piece == bytes(((i * 31 + i // 1000) % 251) for i in range(at, at + len(piece)))
                os._exit(len(piece) if ok else 100)
            status = os.waitpid(pid, 0)[1]
            assert os.WEXITSTATUS(status) <= 3, status
            at += os.WEXITSTATUS(status)
    # All is read: nobody must say that there is more.
    assert not select.select([connection], [], [], 0)[0], round
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    assert not poll.poll(0), round
print("done")
"#;

#[test]
fn no_byte_is_lost_doubled_or_out_of_order_and_polls_tell_the_truth() {
    for seed in ["1", "2", "3", "4"] {
        let preloaded = Preloaded::new(&[("read-buffer", "on")]);
        let (port, server) = serve(|client| lines_of_any_length(&client));
        assert_eq!(preloaded.python(ALL_KINDS, &[&port, seed]), "done\n");
        server.join().expect("the server ends");
        assert!(preloaded.counts("read-buffer").changed > 100, "seed {seed}");
    }
}

#[test]
fn a_program_started_with_the_socket_reads_on_where_its_parent_stopped() {
    let program = r#"
import os, socket, sys
connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
connection.sendall(b"1000\n")
head = b"".join(connection.recv(1) for _ in range(10))
os.dup2(connection.fileno(), 0)
os.execvp("sh", ["sh", "-c", "head -c 990 | wc -c"])
"#;
    let preloaded = Preloaded::new(&[("read-buffer", "on")]);
    let (port, server) = serve(|client| lines_of_any_length(&client));
    assert_eq!(preloaded.python(program, &[&port]).trim(), "990");
    server.join().expect("the server ends");
}

#[test]
fn a_connection_that_was_read_to_its_end_is_closed_in_peace() {
    let program = r#"
import socket, sys
connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
connection.sendall(b"20\n")
for _ in range(19):
    connection.recv(1)
connection.recv(1)
connection.sendall(b"5\n")
for _ in range(5):
    connection.recv(1)
connection.close()
"#;
    let preloaded = Preloaded::new(&[("read-buffer", "on")]);
    // With unread bytes at the close the server would be reset, and its read fail.
    let (port, server) = serve(|client| {
        lines_of_any_length(&client);
        (&client).read(&mut [0]).map_err(|error| error.kind())
    });
    preloaded.python(program, &[&port]);
    assert_eq!(server.join().expect("the server ends"), Ok(0));
}

/// Takes uploads, and never says that it may be sent them.
fn silent_server(mut client: TcpStream) -> Vec<usize> {
    let mut bodies = Vec::new();
    let mut received = Vec::new();
    let mut piece = vec![0; 65536];
    while let Ok(size @ 1..) = client.read(&mut piece) {
        received.extend_from_slice(&piece[..size]);
        let Some(head) = received.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        if received.len() >= head + 4 + 5000 {
            bodies.push(received.len() - head - 4);
            received.clear();
            client.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n").expect("written");
        }
    }
    bodies
}

fn upload(shims: &[(&str, &str)]) -> (Duration, ShimCounts) {
    let preloaded = Preloaded::new(shims);
    let (port, server) = serve(silent_server);
    let body = preloaded.folder().join("body");
    std::fs::write(&body, [b'b'; 5000]).expect("written");
    let data = format!("@{}", body.display());
    let mut curl = preloaded.command("curl");
    for number in 0..2 {
        let url = format!("http://127.0.0.1:{port}/{number}");
        curl.args(if number == 0 { &[][..] } else { &["--next"][..] });
        curl.args(["--silent", "--fail", "--header", "Expect: 100-continue", "--data-binary", &data, &url]);
    }
    let start = Instant::now();
    assert_eq!(text_of(&mut curl), "ok\nok\n");
    let took = start.elapsed();
    assert_eq!(server.join().expect("the server ends"), [5000, 5000]);
    (took, preloaded.counts("answer-100-continue"))
}

#[test]
fn curl_sends_its_body_at_once() {
    let (took, counts) = upload(&[("answer-100-continue", "on")]);
    assert!(took < Duration::from_millis(900), "{took:?}");
    assert_eq!((counts.seen, counts.changed), (2, 2));
}

#[test]
fn curl_waits_its_second_where_the_shim_is_inert() {
    let (took, counts) = upload(&[("answer-100-continue", "inert")]);
    assert!(took > Duration::from_millis(1900), "{took:?}");
    assert_eq!((counts.seen, counts.changed), (2, 0));
}

#[test]
fn curl_is_answered_on_either_side_of_held_writes() {
    for chain in [["coalesce-writes", "answer-100-continue"], ["answer-100-continue", "coalesce-writes"]] {
        let (took, counts) = upload(&chain.map(|name| (name, "on")));
        assert!(took < Duration::from_millis(900), "{chain:?}: {took:?}");
        assert_eq!(counts.changed, 2, "{chain:?}");
    }
}

/// Waits for the answer in one of several ways, and reads it in one of several.
const EXPECTS: &str = r#"
import select, socket, sys, time
connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
connection.sendall(b"POST / HTTP/1.1\r\nHost: here\r\nexpect:  100-Continue\r\nContent-Length: 5000\r\n\r\n")
wait, read = sys.argv[2:]
start = time.monotonic()
if wait == "poll":
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    assert poll.poll(3000) == [(connection.fileno(), select.POLLIN)]
elif wait == "select":
    assert select.select([connection], [], [], 3)[0] == [connection]
elif wait == "epoll":
    epoll = select.epoll()
    epoll.register(connection, select.EPOLLIN | select.EPOLLOUT)
    assert epoll.poll(3) == [(connection.fileno(), select.EPOLLIN | select.EPOLLOUT)]
elif wait == "timeout":
    connection.settimeout(3)
answer = b""
while len(answer) < 25:
    if read == "recv":
        answer += connection.recv(10)
    elif read == "recvmsg":
        answer += connection.recvmsg(100)[0]
    else:
        assert connection.recv(5, socket.MSG_PEEK) == (b"HTTP/1.1 100 Continue\r\n\r\n")[len(answer):][:5]
        answer += connection.recv(100)
assert answer == b"HTTP/1.1 100 Continue\r\n\r\n", answer
assert time.monotonic() - start < 0.5
assert not select.select([connection], [], [], 0)[0]
connection.sendall(b"b" * 5000)
print(connection.recv(15).decode())
"#;

#[test]
fn every_way_to_wait_and_to_read_sees_the_answer() {
    for (wait, read) in
        [("nothing", "recv"), ("poll", "peek"), ("select", "recvmsg"), ("epoll", "recv"), ("timeout", "recv")]
    {
        let preloaded = Preloaded::new(&[("answer-100-continue", "on")]);
        let (port, server) = serve(silent_server);
        assert_eq!(preloaded.python(EXPECTS, &[&port, wait, read]), "HTTP/1.1 200 OK\n", "{wait}, {read}");
        server.join().expect("the server ends");
        assert_eq!(preloaded.counts("answer-100-continue").changed, 1);
    }
}

#[test]
fn a_request_that_expects_nothing_is_left_alone() {
    let program = r#"
import http.client, sys
connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
connection.request("POST", "/", b"b" * 5000, {"X-Expect": "100-continue"})
print(connection.getresponse().status)
"#;
    let preloaded = Preloaded::new(&[("answer-100-continue", "on")]);
    let (port, server) = serve(silent_server);
    assert_eq!(preloaded.python(program, &[&port]), "200\n");
    server.join().expect("the server ends");
    assert_eq!(preloaded.counts("answer-100-continue").seen, 0);
}
