//! Treatments that gain and prove nothing: the program does other work with them, or something else explains the gain.

use crate::stage::{Ran, Stage, free_port};
use case::facts::Work;
use case::{Answer, Finding, Status};
use testing::{beside_others, budget, is_root};

/// Answers a request of 400 bytes, in as many writes as its client likes: as the client's kernel and this one's make it, with
/// 40 ms between the first bytes and the last. Where less than 10 ms are between them the answer is another. HTTP only as far as
/// clients can tell. It goes before whatever else wants a processor: woken up late, it would take a held write for one that came
/// at once, with nothing attached too, and what plain runs do every now and then is no other work.
const SERVER: &str = r"
import os, socket, sys, time
host, port, breaks = sys.argv[1], int(sys.argv[2]), sys.argv[3]
try:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
except OSError:
    os.setpriority(os.PRIO_PROCESS, 0, -20)
listener = socket.create_server((host, port))
HEAD = b'HTTP/1.1 %s Word\r\nContent-Length: %d\r\n\r\n'
FINE = HEAD % (b'200', 60) + b'y' * 60
asked = 0
while True:
    connection = listener.accept()[0]
    retried = False
    while data := connection.recv(4096):
        first, got = time.monotonic(), len(data)
        while got < 400:
            got += len(connection.recv(4096))
        # A kernel acknowledges the first segments of a connection at once.
        is_quick = time.monotonic() - first < 0.010 and asked > 2
        asked += 1
        answer = FINE
        if is_quick:
            if breaks == 'body': answer = FINE[:-60] + b'n' * 60
            if breaks == 'bytes': answer = HEAD % (b'200', 6) + b'y' * 6
            if breaks == 'status': answer = FINE.replace(b'200', b'503')
            if breaks == 'end': answer = FINE[:-60] + b'e' * 60
            if breaks == 'retry' and not retried: answer = FINE[:-60] + b'r' * 60
            if breaks == 'short' and asked > 10: answer = HEAD % (b'200', 48) + b'y' * 48
            if breaks == 'tenth' and asked > 10: answer = FINE.replace(b'200', b'500')
        retried = is_quick and not retried
        connection.sendall(answer)
    connection.close()
    asked = 0
";

/// Makes 12 requests in two writes each, few enough that trials run to the end. It repeats what it is told to, ends early where it
/// is told to, exits with 0 whatever comes, and counts only where nothing is broken but the answers' bodies. Beside a slow reader
/// it computes for 1 ms between its writes, so that without joining the kernel does not put them into one segment.
const CLIENT: &str = r"
import socket, sys, time
host, port, breaks = sys.argv[1], int(sys.argv[2]), sys.argv[3]
connection = socket.create_connection((host, port))
def ask():
    connection.sendall(b'x' * 200)
    begun = time.monotonic()
    while breaks in ('sleeps', 'timer') and time.monotonic() - begun < 0.001:
        pass
    connection.sendall(b'x' * 200)
    received = b''
    while b'\r\n\r\n' not in received:
        received += connection.recv(4096)
    head, body = received.split(b'\r\n\r\n', 1)
    length = int(head.rsplit(b' ', 1)[1])
    while len(body) < length:
        body += connection.recv(4096)
    return body[:1]
ok = failed = 0
for request in range(12):
    said = ask()
    if said == b'r': said = ask()
    if said == b'e': break
    if said == b'y': ok += 1
    else: failed += 1
print(f'{ok} ok, {failed} failed' if breaks == 'body' else 'done')
";

/// Does something else for 45 ms before it reads on wherever a request does not come in one segment, however soon the rest comes. The kernel that
/// holds the rest back meanwhile is no cause. The segments are those that the kernel has counted (tcpi_data_segs_in): a reader
/// that a busy machine wakes up late finds both there, and would not wait.
const SLOW_READER: &str = r"
import socket, struct, sys, threading, time
host, port, how = sys.argv[1], int(sys.argv[2]), sys.argv[3]
listener = socket.create_server((host, port))
def segments(connection):
    return struct.unpack_from('I', connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 160), 152)[0]
while True:
    connection = listener.accept()[0]
    seen = 0
    while data := connection.recv(4096):
        is_whole = len(data) == 400 and segments(connection) - seen == 1
        if not is_whole:
            rest = 400 - len(data)
            if how == 'computes':
                end = time.monotonic() + 0.045
                while time.monotonic() < end: pass
                while rest: rest -= len(connection.recv(rest))
            else:
                done = threading.Event()
                def read_on(rest=rest):
                    while rest: rest -= len(connection.recv(rest))
                    done.set()
                threading.Timer(0.045, read_on).start()
                done.wait()
        seen = segments(connection)
        connection.sendall(b'HTTP/1.1 200 Word\r\nContent-Length: 60\r\n\r\n' + b'y' * 60)
    connection.close()
";

/// What is said of the stall of a client and a server that take a word each; none where this machine does not let us record.
fn proved(server: &str, word: &str) -> Option<(Finding, String)> {
    let _turn = beside_others();
    let stage = Stage::new();
    if !is_root() || !stage.can_record() {
        return None;
    }
    std::fs::write(stage.path("server.py"), server).expect("written");
    std::fs::write(stage.path("client.py"), CLIENT).expect("written");
    let port = free_port().to_string();
    let serve = format!("python3 server.py {{server}} {port} {word}");
    let client = ["--", "python3", "client.py", "{server}", &port, word];
    // Nothing ends the trials before: what is not believed is tried until then.
    let budget = budget(30);
    let ours = ["run", "--json", "--link", "mtu=1500", "--budget", &budget, "--server", &serve, "-o", "case"];
    let ran: Ran = stage.run(&[&ours[..], &client].concat()).answered();
    let answer: Answer = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let found = answer.findings.into_iter().find(|finding| finding.name == "nagle-delayed-ack");
    let finding = found.unwrap_or_else(|| panic!("the stall is suspected: {}", ran.stdout));
    let text = stage.run(&["report", "case"]).answered().stdout;
    Some((finding, text))
}

/// That nothing that shortens the stall is believed, for this reason.
fn expect_broken(word: &str, why: &str) {
    let Some((finding, text)) = proved(SERVER, word) else { return };
    assert_ne!(finding.status, Status::Confirmed, "{word}: {:#?}", finding.tried);
    let nodelay = finding.tried.iter().find(|one| one.intervention == "tcp-nodelay").expect("it was tried");
    assert!(nodelay.work != Work::Same && nodelay.problem.contains(why), "{word}: {nodelay:#?}");
    assert!(!text.contains("Confirmed"), "{word}: {text}");
    let steady = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(steady.contains(why), "{word}: the reason is given: {text}");
}

#[test]
fn a_treatment_that_makes_all_requests_fail_is_no_cure() {
    expect_broken("body", "output was different");
}

#[test]
#[ignore = "long: make stories"]
fn a_treatment_that_shortens_the_last_answers_is_no_cure() {
    expect_broken("short", "bytes on average");
}

#[test]
#[ignore = "long: make stories"]
fn a_treatment_that_makes_answers_shorter_is_no_cure() {
    expect_broken("bytes", "bytes on average");
}

#[test]
#[ignore = "long: make stories"]
fn a_treatment_that_makes_answers_errors_is_no_cure() {
    expect_broken("status", "were HTTP errors");
}

#[test]
#[ignore = "long: make stories"]
fn a_treatment_that_makes_requests_be_repeated_is_no_cure() {
    expect_broken("retry", "requests instead of");
}

#[test]
#[ignore = "long: make stories"]
fn a_treatment_that_ends_the_program_early_is_no_cure() {
    expect_broken("end", "instead of");
}

#[test]
#[ignore = "long: make stories"]
fn a_treatment_with_which_only_the_last_requests_fail_is_no_cure() {
    expect_broken("tenth", "were HTTP errors");
}

/// That what joins the writes is not believed, since what takes the cause away and nothing else changes nothing. Where a busy
/// machine keeps the joining from being certain, there is nothing to explain: such a run is made again.
fn expect_explained(how: &str) {
    let mut last = String::new();
    for _ in 0..3 {
        let Some((finding, text)) = proved(SLOW_READER, how) else { return };
        let tried = |name: &str| finding.tried.iter().find(|one| one.intervention == name).expect("it was tried");
        let (joined, nodelay) = (tried("coalesce-writes"), tried("tcp-nodelay"));
        if joined.status == Status::Confirmed && nodelay.status != Status::Confirmed {
            assert_eq!(finding.status, Status::Undecided, "{how}: {:#?}", finding.caveats);
            let steady = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(steady.contains("the peer reads it all at once, and that explains the gain"), "{how}: {text}");
            return;
        }
        assert!(finding.status != Status::Confirmed || nodelay.status == Status::Confirmed, "{how}: {text}");
        last = format!("{:#?}", finding.tried);
    }
    panic!("{how}: joining alone never gained: {last}");
}

#[test]
#[ignore = "long: make stories"]
fn a_server_that_computes_before_it_reads_the_rest_explains_why_joining_writes_helps() {
    expect_explained("computes");
}

#[test]
#[ignore = "long: make stories"]
fn a_timer_that_reads_the_rest_explains_why_joining_writes_helps() {
    expect_explained("timer");
}
