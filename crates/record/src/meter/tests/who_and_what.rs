//! Whose exchanges count, and what counts as one.

use super::*;

#[test]
fn a_server_by_itself_counts_what_it_accepted() {
    let Some(mut bench) = Bench::new() else { return };
    bench.certify();
    for (tls, connections) in [("plain", "fresh"), ("plain", "kept"), ("TLSv1_2", "fresh"), ("TLSv1_3", "fresh")] {
        bench.meter.clear();
        let reading = bench.exchange(tls, connections, "0.002", [None, Some(Role::Server)]);
        assert_eq!(reading.exchanges, 23, "{tls}, {connections}: {reading:?}");
        let each = milliseconds(reading.exchange_wall) / 23.0;
        assert!((2.0..10.0).contains(&each), "{tls}, {connections}: {each} ms");
        assert_eq!(reading.client_user, Nanos(0));
    }
}

#[test]
fn a_servers_own_requests_count_where_no_client_makes_any() {
    let Some(mut bench) = Bench::new() else { return };
    let reading = bench.exchange("plain", "kept", "0", [Some(Role::Server), None]);
    assert_eq!(reading.exchanges, 23);
}

#[test]
fn the_children_of_a_client_are_followed() {
    let Some(mut bench) = Bench::new() else { return };
    let port = free_port();
    let mut server = bench.run(&bench.python(SERVER, &[&port, "plain", "0"]), Some(Role::Server));
    wait_until(|| crate::listens(server.pid()));
    bench.python(CLIENT, &[]);
    let client = bench.folder.path().join("client.py");
    std::fs::write(&client, CLIENT).expect("written");
    let shell = format!("for each in 1 2 3; do python3 client.py {port} plain fresh & done; wait");
    let program =
        Program { arguments: ["sh", "-c", &shell].map(ToString::to_string).to_vec(), ..bench.python("", &[]) };
    let mut clients = bench.run(&program, Some(Role::Client));
    wait_for(&mut clients);
    let reading = bench.meter.read();
    assert_eq!(reading.exchanges, 69);
    server.signal(libc::SIGTERM);
    wait_until(|| server.poll().expect("a status").is_some());
}

#[test]
fn unix_sockets_count_and_datagrams_do_not() {
    let Some(mut bench) = Bench::new() else { return };
    let script = "
import os, socket
listener = socket.socket(socket.AF_UNIX)
listener.bind('socket')
listener.listen()
client = socket.socket(socket.AF_UNIX)
client.connect('socket')
server, _ = listener.accept()
for each in range(23):
    client.send(b'question')
    server.recv(100)
    server.send(b'answer')
    client.recv(100)
one, other = socket.socket(type=socket.SOCK_DGRAM), socket.socket(type=socket.SOCK_DGRAM)
other.bind(('127.0.0.1', 0))
one.connect(other.getsockname())
other.connect(one.getsockname())
for each in range(5):
    one.send(b'question'); other.recv(100); other.send(b'answer'); one.recv(100)
";
    let mut client = bench.run(&bench.python(script, &[]), Some(Role::Client));
    wait_for(&mut client);
    assert_eq!(bench.meter.read().exchanges, 23);
}

#[test]
fn files_sent_count_as_requests_and_a_write_refused_does_not() {
    let Some(mut bench) = Bench::new() else { return };
    let script = "
import os, socket, sys, time
listener = socket.create_server(('127.0.0.1', 0))
client = socket.create_connection(listener.getsockname())
server, _ = listener.accept()
open('file', 'w').write('question')
file = os.open('file', os.O_RDONLY)
for each in range(23):
    if each % 2:
        os.sendfile(client.fileno(), file, 0, 8)
    else:
        read, write = os.pipe()
        os.write(write, b'question')
        os.splice(read, client.fileno(), 8)
        os.close(read); os.close(write)
    server.recv(100)
    server.send(b'answer')
    client.recv(100)
client.setblocking(False)
def flood():
    try:
        while True:
            client.send(b'x' * 1000000)
    except BlockingIOError:
        time.sleep(0.1)
for each in range(5):
    flood()
client.setblocking(True)
server.send(b'unasked'); client.recv(100)
try:
    client.send(b'refused', socket.MSG_DONTWAIT)
    sys.exit(1)
except BlockingIOError:
    pass
server.send(b'unasked'); client.recv(100)
";
    let mut client = bench.run(&bench.python(script, &[]), Some(Role::Client));
    wait_for(&mut client);
    // 23, and the flood that the first unasked bytes answer.
    assert_eq!(bench.meter.read().exchanges, 24);
}
