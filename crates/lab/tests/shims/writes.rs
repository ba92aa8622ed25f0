//! Shims that stand before writes: what leaves, in what order, in how many segments, and when.

use crate::preload::Preloaded;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

/// A server of one connection, on a thread; its port.
fn serve<T: Send + 'static>(handle: impl FnOnce(TcpStream) -> T + Send + 'static) -> (String, JoinHandle<T>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port().to_string();
    (port, std::thread::spawn(move || handle(listener.accept().expect("a client").0)))
}

/// Answers every hundred bytes with as many.
fn echo_hundreds(mut client: TcpStream) {
    client.set_nodelay(true).expect("set");
    let mut request = [0; 100];
    while client.read_exact(&mut request).is_ok() {
        client.write_all(&request).expect("written");
    }
}

/// Everything that comes, read slowly at first so that the sender meets a full window.
fn everything(mut client: TcpStream) -> Vec<u8> {
    std::thread::sleep(Duration::from_millis(200));
    let mut all = Vec::new();
    client.read_to_end(&mut all).expect("read");
    all
}

const CONNECT: &str = r"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static int connected(const char *port)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(atoi(port)) };
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)))
		exit(9);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd;
}
static unsigned segments(int fd)
{
	struct tcp_info about;
	socklen_t length = sizeof(about);
	getsockopt(fd, IPPROTO_TCP, TCP_INFO, &about, &length);
	/* What is sent again, its acknowledgement being late on a busy machine, is no segment more. */
	return about.tcpi_data_segs_out - about.tcpi_total_retrans;
}
";

fn c(preloaded: &Preloaded, body: &str, arguments: &[&str]) -> String {
    preloaded.c(&format!("{CONNECT}{body}"), arguments)
}

const WRITE_WRITE_READ: &str = r#"
int main(int count, char **arguments)
{
	int fd = connected(arguments[1]);
	char bytes[100] = "header and body";
	for (int i = 0; i < 50; i++) {
		if (write(fd, bytes, 60) != 60 || send(fd, bytes + 60, 40, 0) != 40)
			return 1;
		for (int have = 0, got; have < 100; have += got)
			if ((got = recv(fd, bytes + have, 100 - have, 0)) <= 0)
				return 2;
	}
	printf("%u\n", segments(fd));
}"#;

fn segments_of_fifty_requests(parameter: &str) -> (u64, lab::intervention_counters::ShimCounts) {
    let preloaded = Preloaded::new(&[("coalesce-writes", parameter)]);
    let (port, server) = serve(echo_hundreds);
    let printed = c(&preloaded, WRITE_WRITE_READ, &[&port]);
    server.join().expect("the server ends");
    (printed.trim().parse().expect("a number"), preloaded.counts("coalesce-writes"))
}

#[test]
fn two_small_writes_leave_as_one_segment() {
    let (segments, counts) = segments_of_fifty_requests("on");
    // A pause between the two writes longer than the 5 ms, on a busy machine, may part a pair.
    assert!((50..=53).contains(&segments), "{segments} segments");
    assert!((47..=50).contains(&counts.changed), "{counts:?}");
}

#[test]
fn an_inert_shim_lets_both_leave_as_they_are() {
    let (segments, counts) = segments_of_fifty_requests("inert");
    assert_eq!(segments, 100);
    assert_eq!((counts.loaded, counts.changed), (1, 0));
}

#[test]
fn another_shim_in_front_or_behind_takes_nothing_away() {
    for shims in [[("nothing", "on"), ("coalesce-writes", "on")], [("coalesce-writes", "on"), ("nothing", "on")]] {
        let preloaded = Preloaded::new(&shims);
        let (port, server) = serve(echo_hundreds);
        let segments: u64 = c(&preloaded, WRITE_WRITE_READ, &[&port]).trim().parse().expect("a number");
        server.join().expect("the server ends");
        assert!(segments <= 53, "{segments} segments");
    }
}

/// Writes 2 MB in pieces of every size by every call, through two descriptors of one socket, now and then pausing.
const ALL_KINDS: &str = r#"
static char data[2000000];
int main(int count, char **arguments)
{
	int fds[2] = { connected(arguments[1]) }, waits = !strcmp(arguments[2], "blocking");
	fds[1] = dup(fds[0]);
	srandom(atoi(arguments[3]));
	if (!waits)
		fcntl(fds[0], F_SETFL, O_NONBLOCK);
	for (int i = 0; i < sizeof(data); i++)
		data[i] = (i * 31 + i / 1000) % 251;
	for (long at = 0; at < sizeof(data);) {
		long size = random() % 8 ? random() % 700 : random() % 9000, sent = 0;
		if (size > sizeof(data) - at)
			size = sizeof(data) - at;
		char *bytes = data + at;
		int fd = fds[random() % 2];
		struct iovec parts[2] = { { bytes, size / 3 }, { bytes + size / 3, size - size / 3 } };
		struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
		struct mmsghdr messages[1] = { { message } };
		switch (random() % 7) {
		case 0: sent = write(fd, bytes, size); break;
		case 1: sent = send(fd, bytes, size, 0); break;
		case 2: sent = send(fd, bytes, size, MSG_NOSIGNAL | MSG_MORE); break;
		case 3: sent = writev(fd, parts, 2); break;
		case 4: sent = sendmsg(fd, &message, 0); break;
		case 5: sent = sendto(fd, bytes, size, MSG_DONTWAIT, 0, 0); break;
		case 6: sent = sendmmsg(fd, messages, 1, 0); sent = sent == 1 ? messages[0].msg_len : sent; break;
		}
		if (sent < 0 && errno != EAGAIN)
			return 1;
		if (sent < 0) {
			struct pollfd one = { fd, POLLOUT };
			poll(&one, 1, 1000);
		}
		at += sent > 0 ? sent : 0;
		if (random() % 1000 == 0)
			for (clock_t end = clock() + CLOCKS_PER_SEC / 50; clock() < end;)
				;
		if (random() % 2000 == 0)
			close(fds[1]), fds[1] = dup(fds[0]);
	}
}"#;

#[test]
fn no_byte_is_lost_doubled_or_out_of_order() {
    let expected: Vec<u8> = (0..2_000_000).map(|i| ((i * 31 + i / 1000) % 251) as u8).collect();
    for (kind, seed) in [("blocking", "1"), ("blocking", "2"), ("nonblocking", "3"), ("nonblocking", "4")] {
        let preloaded = Preloaded::new(&[("coalesce-writes", "on")]);
        let (port, server) = serve(everything);
        c(&preloaded, ALL_KINDS, &[&port, kind, seed]);
        let received = server.join().expect("the server ends");
        assert!(received == expected, "{kind} {seed}: {} bytes of {}", received.len(), expected.len());
        assert!(preloaded.counts("coalesce-writes").changed > 100, "{kind} {seed}");
    }
}

#[test]
fn what_was_written_leaves_within_milliseconds_though_the_program_computes() {
    let program = r#"
static long long now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000ll + t.tv_nsec; }
int main(int count, char **arguments)
{
	int fd = connected(arguments[1]);
	for (int i = 0; i < 5; i++) {
		write(fd, "x", 1);
		for (long long end = now() + 400000000; now() < end;)
			;
	}
}"#;
    let preloaded = Preloaded::new(&[("coalesce-writes", "on")]);
    let (port, server) = serve(|mut client| {
        let mut arrivals = Vec::new();
        while client.read_exact(&mut [0]).is_ok() {
            arrivals.push(std::time::Instant::now());
        }
        (arrivals, std::time::Instant::now())
    });
    c(&preloaded, program, &[&port]);
    let (arrivals, end) = server.join().expect("the server ends");
    let last = end - arrivals[4];
    assert!(last > Duration::from_millis(300), "the last byte came only {last:?} before the end");
    assert_eq!(arrivals.len(), 5);
}

#[test]
fn nothing_is_lost_where_a_program_ends_forks_or_becomes_another() {
    let ends = [
        ("return 0;", "ab"),
        ("exit(0);", "ab"),
        ("_exit(0);", "ab"),
        ("close(fd); for (;;) { struct timespec t = { 0, 1 }; _Exit(nanosleep(&t, 0)); }", "ab"),
        ("execl(\"/bin/true\", \"true\", (char *)0);", "ab"),
        ("execle(\"/bin/true\", \"true\", (char *)0, environ);", "ab"),
        ("execlp(\"true\", \"true\", (char *)0);", "ab"),
        ("if (fork()) { wait(0); } else { write(fd, \"c\", 1); } return 0;", "abc"),
        ("if (fork()) { wait(0); write(fd, \"d\", 1); } else { write(fd, \"c\", 1); _exit(0); } return 0;", "abcd"),
        ("if (!vfork()) execlp(\"true\", \"true\", (char *)0); wait(0); return 0;", "ab"),
        ("char c[64]; snprintf(c, 64, \"echo c >&%d\", fd); return system(c);", "abc\n"),
        ("dup2(1, fd); return 0;", "ab"),
        ("FILE *f = fdopen(fd, \"w\"); fputs(\"c\", f); fclose(f); _exit(0);", "abc"),
        ("shutdown(fd, SHUT_WR); return 0;", "ab"),
    ];
    for (end, expected) in ends {
        let preloaded = Preloaded::new(&[("coalesce-writes", "on")]);
        let (port, server) = serve(everything);
        let body = "int main(int count, char **arguments) { int fd = connected(arguments[1]); \
                    write(fd, \"a\", 1); write(fd, \"b\", 1);\n";
        c(&preloaded, &format!("{body}{end}\n}}"), &[&port]);
        assert_eq!(String::from_utf8_lossy(&server.join().expect("the server ends")), expected, "{end}");
        assert!(preloaded.counts("coalesce-writes").changed >= 1, "{end}");
    }
}

#[test]
fn a_program_learns_that_its_peer_is_gone() {
    let program = r#"
int main(int count, char **arguments)
{
	int fd = connected(arguments[1]);
	char byte;
	signal(SIGPIPE, SIG_IGN);
	if (read(fd, &byte, 1) != 0)
		return 1;
	for (int i = 0; i < 100; i++) {
		if (write(fd, "ab", 2) < 0 || write(fd, "cd", 2) < 0)
			return errno == EPIPE || errno == ECONNRESET ? 0 : 2;
		usleep(1000);
	}
	return 3;
}"#;
    let preloaded = Preloaded::new(&[("coalesce-writes", "on")]);
    let (port, server) = serve(drop);
    c(&preloaded, program, &[&port]);
    server.join().expect("the server ends");
}

#[test]
fn python_with_a_time_limit_sends_header_and_body_together() {
    // A time limit makes Python ask before every write whether it may: that must not part the two.
    let program = r#"
import http.client, socket, sys
plain = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=5)
connection = http.client.HTTPConnection("localhost")
connection.sock = plain
for _ in range(5):
    connection.request("POST", "/", b"x" * 80)
    print(connection.getresponse().read().decode())
"#;
    let preloaded = Preloaded::new(&[("coalesce-writes", "on")]);
    let (port, server) = serve(|mut client| {
        let mut pieces = Vec::new();
        let mut piece = [0; 1000];
        while let Ok(size @ 1..) = client.read(&mut piece) {
            pieces.push(size);
            client.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").expect("written");
        }
        pieces.len()
    });
    assert_eq!(preloaded.python(program, &[&port]), "ok\n".repeat(5));
    assert_eq!(server.join().expect("the server ends"), 5);
    assert_eq!(preloaded.counts("coalesce-writes").changed, 5);
}

/// One thread asks, then waits in a lock until another has read the answer. `lock` and `unlock` are the two sides.
fn two_threads(wait: &str, wake: &str) -> f64 {
    let body = format!(
        r#"
#include <linux/futex.h>
#include <semaphore.h>
#include <sys/syscall.h>
static int fd, turn;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static void *read_answers(void *nothing)
{{
	char bytes[100];
	for (int have = 0, got; (got = read(fd, bytes, 100 - have)) > 0;)
		if ((have += got) == 100) {{
			have = 0;
			{wake}
		}}
	return 0;
}}
int main(int count, char **arguments)
{{
	struct timespec start, end;
	char bytes[100] = "";
	pthread_t thread;
	fd = connected(arguments[1]);
	pthread_create(&thread, 0, read_answers, 0);
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (int i = 0; i < 200; i++) {{
		write(fd, bytes, 100);
		{wait}
	}}
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%.4f\n", end.tv_sec - start.tv_sec + (end.tv_nsec - start.tv_nsec) / 1e9);
}}"#
    );
    let preloaded = Preloaded::new(&[("coalesce-writes", "on")]);
    let (port, server) = serve(echo_hundreds);
    let took = c(&preloaded, &body, &[&port]).trim().parse().expect("a number");
    server.join().expect("the server ends");
    took
}

#[test]
fn a_thread_that_waits_for_the_one_that_reads_is_not_held_up_for_long() {
    // What others on the machine take is no part of it: the quickest of three.
    let quickest = |wait, wake| (0..3).map(|_| two_threads(wait, wake)).fold(f64::INFINITY, f64::min);
    let conditions = quickest(
        "pthread_mutex_lock(&lock); while (!turn) pthread_cond_wait(&condition, &lock); turn = 0; pthread_mutex_unlock(&lock);",
        "pthread_mutex_lock(&lock); turn = 1; pthread_cond_signal(&condition); pthread_mutex_unlock(&lock);",
    );
    let futexes = quickest(
        "while (!__atomic_exchange_n(&turn, 0, 5)) syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);",
        "__atomic_store_n(&turn, 1, 5); syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);",
    );
    // Two hundred times 5 ms would be a second.
    assert!(conditions < 0.2 && futexes < 0.4, "{conditions} s with conditions, {futexes} s with futexes");
}
