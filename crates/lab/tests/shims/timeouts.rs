//! Shims that stand before what ends by time: waits that give up, and connections in TIME_WAIT.

use crate::preload::Preloaded;
use std::net::TcpListener;

/// Waits for a descriptor that stays silent, for 40 ms in each way that there is; then what has no timeout of a descriptor. Prints
/// how long each took, in milliseconds.
const WAITS: &str = r#"
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return 1e3 * t.tv_sec + t.tv_nsec / 1e6; }
#define TIMED(call) { double start = now(); call; printf("%.1f\n", now() - start); }
int main(void)
{
	struct timespec t = { 0, 40000000 };
	struct timeval v = { 0, 40000 };
	int fds[2];
	char byte;
	socketpair(AF_UNIX, SOCK_STREAM, 0, fds);
	struct pollfd one = { fds[0], POLLIN };
	struct epoll_event event = { EPOLLIN };
	int epoll = epoll_create1(0);
	epoll_ctl(epoll, EPOLL_CTL_ADD, fds[0], &event);
	fd_set reads;
	FD_ZERO(&reads);
	FD_SET(fds[0], &reads);
	fd_set again = reads;
	setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &v, sizeof(v));
	TIMED(poll(&one, 1, 40));
	TIMED(ppoll(&one, 1, &t, 0));
	TIMED(select(fds[0] + 1, &reads, 0, 0, &v));
	TIMED(pselect(fds[0] + 1, &again, 0, 0, &t, 0));
	TIMED(epoll_wait(epoll, &event, 1, 40));
	TIMED(read(fds[0], &byte, 1));
	TIMED(poll(0, 0, 40));
	TIMED(nanosleep(&t, 0));
	TIMED(poll(&one, 1, 0));
}"#;

#[test]
fn waits_for_descriptors_follow_the_factor_and_sleeps_do_not() {
    for (parameter, expected, changed) in [("0.5", 20.0, 6), ("2", 80.0, 6), ("inert", 40.0, 0)] {
        let preloaded = Preloaded::new(&[("timeout-scale", parameter)]);
        let printed = preloaded.c(WAITS, &[]);
        let lengths = printed.lines().map(|line| line.parse::<f64>().expect("a number")).collect::<Vec<_>>();
        for length in &lengths[..6] {
            assert!((expected - 0.5..expected + 30.0).contains(length), "times {parameter}: {printed}");
        }
        assert!(lengths[6..8].iter().all(|length| *length >= 39.5) && lengths[8] < 20.0, "{printed}");
        assert_eq!(preloaded.counts("timeout-scale").changed, changed, "{printed}");
    }
}

/// Says something over a connection that it closes first, and whether its port is still taken; then is closed by the other end.
const CLOSES: &str = r#"
import socket, sys
def connect():
    return socket.create_connection(("127.0.0.1", int(sys.argv[1])))
def is_taken(port):
    ends = (f":{port:04X}", f":{int(sys.argv[1]):04X}")
    return any(tuple(end[8:] for end in line.split()[1:3]) == ends for line in open("/proc/net/tcp"))
first = connect()
port = first.getsockname()[1]
first.sendall(b"all of it")
first.recv(1)
first.close()
print(is_taken(port), end=" ")
second = connect()
print(second.recv(1))
second.close()
"#;

#[test]
fn a_port_is_free_once_its_connection_is_closed_and_what_was_sent_arrives() {
    for (parameter, is_taken, changed) in [("on", "False", 1), ("inert", "True", 0)] {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port().to_string();
        let server = std::thread::spawn(move || {
            use std::io::{Read, Write};
            let mut first = listener.accept().expect("a client").0;
            let mut said = [0; 9];
            first.read_exact(&mut said).expect("all of it");
            first.write_all(b"k").expect("written");
            drop(listener.accept().expect("a client"));
            said
        });
        let preloaded = Preloaded::new(&[("no-time-wait", parameter)]);
        assert_eq!(preloaded.python(CLOSES, &[&port]), format!("{is_taken} b''\n"));
        assert_eq!(&server.join().expect("the server ends"), b"all of it");
        assert_eq!(preloaded.counts("no-time-wait").changed, changed);
    }
}
