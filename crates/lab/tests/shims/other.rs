//! Shims that stand before sleeps, before scanning, and before the options of sockets.

use crate::preload::Preloaded;
use std::io::Read;
use std::net::TcpListener;

/// Sleeps for about 40 ms in each way that there is; prints how long each took, in milliseconds.
const SLEEPS: &str = r#"
#include <poll.h>
#include <stdio.h>
#include <sys/select.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return 1e3 * t.tv_sec + t.tv_nsec / 1e6; }
#define TIMED(call) { double start = now(); call; printf("%.1f\n", now() - start); }
int main(void)
{
	struct timespec t = { 0, 40000000 }, until;
	struct timeval v = { 0, 40000 };
	TIMED(nanosleep(&t, 0));
	TIMED(clock_nanosleep(CLOCK_MONOTONIC, 0, &t, 0));
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += 40000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	TIMED(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, 0));
	TIMED(usleep(40000));
	TIMED(thrd_sleep(&t, 0));
	TIMED(poll(0, 0, 40));
	TIMED(ppoll(0, 0, &t, 0));
	TIMED(select(0, 0, 0, 0, &v));
	TIMED(pselect(0, 0, 0, 0, &t, 0));
	/* Waits for a descriptor: to be left alone. */
	int fds[2];
	pipe(fds);
	struct pollfd one = { fds[0], POLLIN };
	TIMED(poll(&one, 1, 40));
}"#;

/// Each sleep's shortest length of three, since a busy machine makes them longer, and what was counted in one run.
fn sleeps(parameter: &str) -> (Vec<f64>, lab::intervention_counters::ShimCounts) {
    let preloaded = Preloaded::new(&[("sleep-scale", parameter)]);
    let mut shortest = vec![f64::INFINITY; 10];
    for _ in 0..3 {
        for (line, length) in preloaded.c(SLEEPS, &[]).lines().zip(&mut shortest) {
            *length = line.parse::<f64>().expect("a number").min(*length);
        }
    }
    let mut counts = preloaded.counts("sleep-scale");
    counts.seen /= 3;
    counts.changed /= 3;
    (shortest, counts)
}

#[test]
fn sleeps_follow_the_factor_and_waits_for_descriptors_do_not() {
    for (factor, expected) in [("0.500000", 20.0), ("2.000000", 80.0)] {
        let (lengths, counts) = sleeps(factor);
        for (which, length) in lengths[..9].iter().enumerate() {
            assert!((expected - 0.5..expected + 15.0).contains(length), "sleep {which} times {factor}: {length} ms");
        }
        assert!((39.5..60.0).contains(&lengths[9]), "the wait for a descriptor took {} ms", lengths[9]);
        assert_eq!(counts.changed, 9);
    }
}

#[test]
fn an_inert_shim_and_one_with_a_wrong_parameter_leave_sleeps_alone() {
    for parameter in ["inert", "half"] {
        let (lengths, counts) = sleeps(parameter);
        assert!(lengths.iter().all(|length| (39.5..60.0).contains(length)), "{lengths:?}");
        assert_eq!((counts.seen, counts.changed), (9, 0));
    }
}

#[test]
fn sleeps_in_halves_are_as_long_as_before() {
    let (lengths, counts) = sleeps("halves");
    assert!(lengths.iter().all(|length| (39.5..60.0).contains(length)), "{lengths:?}");
    assert_eq!(counts.changed, 9);
    let preloaded = Preloaded::new(&[("sleep-scale", "halves")]);
    // A sleep that a signal cuts off in its first half has the second half left as well.
    let program = "import ctypes, signal, time; libc = ctypes.CDLL(None); s = time.monotonic(); libc.sleep(1); \
                   took = time.monotonic() - s; signal.signal(signal.SIGALRM, lambda *_: None); \
                   signal.setitimer(signal.ITIMER_REAL, 0.2); print(took, libc.sleep(3))";
    let said = preloaded.python(program, &[]);
    let (took, left) = said.trim().split_once(' ').expect("two numbers");
    assert!((0.99..1.5).contains(&took.parse::<f64>().expect("a number")), "{said}");
    assert_eq!(left, "3", "{said}");
    assert_eq!(preloaded.counts("sleep-scale").changed, 2);
}

#[test]
fn python_sleeps_half_as_long_and_whole_seconds_are_scaled_too() {
    let preloaded = Preloaded::new(&[("coalesce-writes", "on"), ("sleep-scale", "0.5")]);
    let program = "import ctypes, time; s = time.monotonic(); time.sleep(0.2); ctypes.CDLL(None).sleep(1); \
                   print(time.monotonic() - s)";
    let took: f64 = preloaded.python(program, &[]).trim().parse().expect("a number");
    assert!((0.6..0.9).contains(&took), "{took} s");
    assert_eq!(preloaded.counts("sleep-scale").changed, 2);
}

/// Takes a text apart with sscanf, a token at a time, in several ways; prints all that it got, and the time.
const SCAN: &str = r#"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static int by_list(const char *text, const char *format, ...)
{
	va_list into;
	va_start(into, format);
	int result = vsscanf(text, format, into);
	va_end(into);
	return result;
}
int main(int count, char **arguments)
{
	int tokens = atoi(arguments[1]), length, number, got;
	char *text = malloc(tokens * 32 + 20000), *end = text, word[8192], a, b, *owned;
	unsigned long long sum = 0;
	double real;
	for (int i = 0; i < tokens; i++)
		end += sprintf(end, "%d key%d 1.5e%d, ", i, i * 7, i % 9);
	clock_t start = clock();
	char *at = text;
	for (int i = 0; i < tokens; i++, at += length) {
		if (sscanf(at, "%d %s %lf,%n", &number, word, &real, &length) != 3)
			return 1;
		sum = sum * 31 + number + strlen(word) + length + (long)real;
	}
	fprintf(stderr, "%.3f\n", (double)(clock() - start) / CLOCKS_PER_SEC);
	/* Odd ones: a failure, a set, an allocation, a list, a word that is longer than any window, the very end. */
	got = sscanf(text, "%d nothing", &number);
	printf("%llu %d ", sum, got);
	got = sscanf(text, "%[0-9] %c%c", word, &a, &b);
	printf("%d %s %c%c ", got, word, a, b);
	got = sscanf(text, "%*d %ms%n", &owned, &length);
	printf("%d %s %d ", got, owned, length);
	got = by_list(text, "%d%n", &number, &length);
	printf("%d %d %d ", got, number, length);
	memset(text, 'w', 8000);
	text[8000] = ' ';
	memset(text + 8001, ' ', 8000);
	strcpy(text + 16001, "42");
	got = sscanf(text, "%s %d%n", word, &number, &length);
	printf("%d %zu %d %d ", got, strlen(word), number, length);
	errno = 7;
	got = sscanf(text, "%8000s%s%s%n", word, word, word, &length);
	printf("%d %d %d ", got, length, errno);
	memset(text, ' ', 8000);
	text[8000] = 0;
	printf("%d %d\n", sscanf(text, "%d", &number), sscanf("17", "%d", &number));
}"#;

fn scan(parameter: &str, tokens: &str) -> (String, f64, lab::intervention_counters::ShimCounts) {
    let preloaded = Preloaded::new(&[("bound-sscanf", parameter)]);
    let program = crate::preload::compile(preloaded.folder(), SCAN);
    let output = preloaded.command(program).arg(tokens).output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let seconds = String::from_utf8_lossy(&output.stderr).trim().parse().expect("a number");
    (String::from_utf8_lossy(&output.stdout).into_owned(), seconds, preloaded.counts("bound-sscanf"))
}

#[test]
fn scanning_gives_the_same_in_linear_time() {
    let (as_before, slow, inert) = scan("inert", "40000");
    let (bounded, fast, counts) = scan("on", "40000");
    assert_eq!(bounded, as_before);
    assert!(fast * 5.0 < slow, "{fast} s bounded, {slow} s as before");
    assert!(counts.changed > 39_800, "{counts:?}");
    assert_eq!((inert.changed, inert.seen), (0, counts.seen));
}

const BUFFERS: &str = r#"
import socket
connection = socket.socket()
for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
    connection.setsockopt(socket.SOL_SOCKET, option, 12000)
    print(connection.getsockopt(socket.SOL_SOCKET, option) == 24000, end=" ")
connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
datagrams = socket.socket(type=socket.SOCK_DGRAM)
datagrams.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 12000)
print(connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) != 0, end=" ")
print(datagrams.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) == 24000)
"#;

#[test]
fn only_the_sizes_of_tcp_buffers_are_left_to_the_kernel() {
    let printed = |parameter| {
        let preloaded = Preloaded::new(&[("default-buffers", parameter)]);
        (preloaded.python(BUFFERS, &[]), preloaded.counts("default-buffers").changed)
    };
    assert_eq!(printed("on"), ("False False True True\n".to_string(), 2));
    assert_eq!(printed("inert"), ("True True True True\n".to_string(), 0));
}

const REFUSED: &str = r#"
import errno, socket, sys
open_port, other_port = map(int, sys.argv[1:])
def connect(family, address):
    try:
        with socket.socket(family) as connection:
            connection.connect(address)
        return "there"
    except OSError as error:
        return errno.errorcode[error.errno]
print(connect(socket.AF_INET, ("127.0.0.1", open_port)), connect(socket.AF_INET, ("127.0.0.1", other_port)))
"#;

#[test]
fn only_what_is_named_is_refused() {
    let printed = |parameter: &dyn Fn(u16) -> String| {
        let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").expect("a port"));
        let ports = listeners.each_ref().map(|one| one.local_addr().expect("an address").port());
        let preloaded = Preloaded::new(&[("refuse-silent", &parameter(ports[0]))]);
        let printed =
            preloaded.python(REFUSED, &ports.each_ref().map(ToString::to_string).each_ref().map(String::as_str));
        (printed, preloaded.counts("refuse-silent").changed)
    };
    let named = |port| format!("::1/80 127.0.0.1/{port}");
    assert_eq!(printed(&named), ("ENETUNREACH there\n".to_string(), 1));
    assert_eq!(printed(&|port| format!("127.0.0.1/{port}0 10.0.0.1/{port}")), ("there there\n".to_string(), 0));
    assert_eq!(printed(&|_| "inert".to_string()), ("there there\n".to_string(), 0));
}

const NODELAY: &str = r#"
import socket, sys
TCP_CORK = 3
connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
def option(which):
    return connection.getsockopt(socket.IPPROTO_TCP, which) != 0
print(option(socket.TCP_NODELAY), end=" ")
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 0)
connection.setsockopt(socket.IPPROTO_TCP, TCP_CORK, 1)
print(option(socket.TCP_NODELAY), option(TCP_CORK), end=" ")
listener = socket.create_server(("127.0.0.1", 0))
peer = socket.create_connection(listener.getsockname())
connection = listener.accept()[0]
print(option(socket.TCP_NODELAY))
"#;

#[test]
fn nagle_stays_off_on_what_a_program_connects_and_accepts() {
    let printed = |parameter| {
        let preloaded = Preloaded::new(&[("nodelay", parameter)]);
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port().to_string();
        let server = std::thread::spawn(move || listener.accept().expect("a client").0.read(&mut [0]).expect("read"));
        let printed = preloaded.python(NODELAY, &[&port]);
        server.join().expect("the server ends");
        (printed, preloaded.counts("nodelay").changed)
    };
    assert_eq!(printed("on"), ("True True False True\n".to_string(), 5));
    assert_eq!(printed("inert"), ("False False True False\n".to_string(), 0));
}

/// Writes what it says that more follows of, and what a cork holds; prints how many bytes have not left yet each time.
const CORKED: &str = r#"
import fcntl, socket, struct, sys
TCP_CORK, SIOCOUTQNSD = 3, 0x894B
listener = socket.create_server(("127.0.0.1", 0))
writer = socket.create_connection(listener.getsockname())
def held():
    return struct.unpack("i", fcntl.ioctl(writer, SIOCOUTQNSD, struct.pack("i", 0)))[0]
writer.send(b"more", socket.MSG_MORE)
print(held(), end=" ")
writer.sendmsg([b"and more"], [], socket.MSG_MORE)
print(held(), end=" ")
writer.setsockopt(socket.IPPROTO_TCP, TCP_CORK, 1)
writer.send(b"and this")
print(held(), end=" ")
writer.setsockopt(socket.IPPROTO_TCP, TCP_CORK, 0)
print(held())
"#;

#[test]
fn what_a_cork_would_hold_leaves_at_once() {
    let printed = |parameter| {
        let preloaded = Preloaded::new(&[("uncorked", parameter)]);
        (preloaded.python(CORKED, &[]), preloaded.counts("uncorked").changed)
    };
    assert_eq!(printed("on"), ("0 0 0 0\n".to_string(), 3));
    assert_eq!(printed("inert"), ("4 12 20 0\n".to_string(), 0));
}

/// Writes lines to a log, a longer piece to it, a line to another file and to standard error; prints how long both
/// files are.
const LOG: &str = r#"
import os, sys
log, other, errors = (os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND) for path in sys.argv[1:])
os.dup2(errors, 2)
written = [os.write(log, b"a line\n"), os.writev(log, [b"another ", b"line\n"]), os.write(log, b"x" * 5000), os.write(other, b"a line\n")]
os.write(2, b"a line\n")
print(written, *(os.fstat(file).st_size for file in (log, other, errors)))
"#;

#[test]
fn only_lines_to_the_log_that_is_named_are_dropped() {
    let printed = |parameter: &dyn Fn(&str) -> String| {
        let folder = tempfile::tempdir().expect("a folder");
        let paths = ["log", "other", "errors"].map(|name| folder.path().join(name).display().to_string());
        let preloaded = Preloaded::new(&[("drop-log-lines", &parameter(&paths[0]))]);
        let printed = preloaded.python(LOG, &paths.each_ref().map(String::as_str));
        (printed, preloaded.counts("drop-log-lines").changed)
    };
    let whole = "[7, 13, 5000, 7] 5020 7 7\n".to_string();
    assert_eq!(printed(&str::to_string), ("[7, 13, 5000, 7] 5000 7 7\n".to_string(), 2));
    assert_eq!(printed(&|_| "stderr".to_string()), ("[7, 13, 5000, 7] 5020 7 0\n".to_string(), 1));
    assert_eq!(printed(&|_| "inert".to_string()), (whole, 0));
}

/// Asks for random bytes a few at a time, in a child as well, and for many; prints how many of the few were there
/// twice.
const RANDOM: &str = r#"
import os
reading, writing = os.pipe()
drawn = [os.urandom(8) for _ in range(2000)]
if not os.fork():
    os.write(writing, b"".join(os.urandom(8) for _ in range(500)))
    os._exit(0)
drawn += [os.urandom(8) for _ in range(500)]
os.wait()
content = os.read(reading, 4000)
drawn += [content[at:at + 8] for at in range(0, 4000, 8)]
print(len(drawn) - len(set(drawn)), bytes(8) in drawn, len(os.urandom(4000)))
"#;

#[test]
fn random_bytes_come_from_a_stock_and_never_twice() {
    for (parameter, is_active) in [("on", true), ("inert", false)] {
        let preloaded = Preloaded::new(&[("buffered-entropy", parameter)]);
        assert_eq!(preloaded.python(RANDOM, &[]), "0 False 4000\n");
        let counts = preloaded.counts("buffered-entropy");
        assert_eq!(counts.changed >= 3_000, is_active, "{counts:?}");
        assert!(counts.seen >= 3_001, "{counts:?}");
    }
}

/// Asks two ports for a page over HTTP; prints the status of each, and whether it was closed.
const ASKED: &str = r#"
import http.client, sys
for port in sys.argv[1:]:
    connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=10)
    connection.connect()
    connection.request("GET", "/list.crl")
    try:
        print(connection.getresponse().status, connection.sock is None, end=" ")
    except http.client.BadStatusLine:
        print("nothing", end=" ")
print()
"#;

#[test]
fn who_is_named_answers_at_once_that_nothing_is_there_and_is_not_asked() {
    let printed = |parameter: &dyn Fn(u16) -> String| {
        let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").expect("a port"));
        let ports = listeners.each_ref().map(|one| one.local_addr().expect("an address").port());
        let preloaded = Preloaded::new(&[("answer-not-found", &parameter(ports[0]))]);
        // Whoever comes is let go without an answer.
        for listener in listeners {
            std::thread::spawn(move || listener.accept().map(|(mut one, _)| one.read(&mut [0; 512])));
        }
        let words = ports.each_ref().map(ToString::to_string);
        let printed = preloaded.python(ASKED, &words.each_ref().map(String::as_str));
        (printed, preloaded.counts("answer-not-found").changed)
    };
    assert_eq!(printed(&|port| format!("127.0.0.1/{port}")), ("404 True nothing \n".to_string(), 1));
    assert_eq!(printed(&|_| "inert".to_string()), ("nothing nothing \n".to_string(), 0));
}
