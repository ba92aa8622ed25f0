//! Shims that stand before waits: loops that spin, queues that drain, sleeps that are scaled.

use crate::preload::Preloaded;
use lab::intervention_counters::ShimCounts;

/// A pair of connected sockets whose other end answers each byte 20 ms later, a tool to count CPU time, and the
/// start of `main`. `twenty` does what is tried until a byte has come, in one of several ways.
const SLOW_PEER: &str = r"
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static int fds[2];
static double seconds(clockid_t clock) { struct timespec t; clock_gettime(clock, &t); return t.tv_sec + t.tv_nsec / 1e9; }
static void *peer(void *nothing)
{
	char byte;
	while (read(fds[1], &byte, 1) == 1) {
		usleep(20000);
		write(fds[1], &byte, 1);
	}
	return 0;
}
static void begin(void)
{
	pthread_t thread;
	socketpair(AF_UNIX, SOCK_STREAM, 0, fds);
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	pthread_create(&thread, 0, peer, 0);
}
";

/// Twenty questions asked of the slow peer: rounds of the loop, milliseconds of wall and of CPU time.
fn twenty_questions(wait: &str, parameter: &str) -> (u64, f64, f64, ShimCounts) {
    let body = format!(
        r#"int main(void)
{{
	long rounds = 0;
	char byte = 'q';
	begin();
	int epoll = epoll_create1(0);
	struct epoll_event event = {{ EPOLLIN | EPOLLOUT, {{ .u64 = 0x123456789abcd }} }};
	epoll_ctl(epoll, EPOLL_CTL_ADD, fds[0], &event);
	double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_THREAD_CPUTIME_ID);
	for (int i = 0; i < 20; i++) {{
		write(fds[0], &byte, 1);
		for (;; rounds++) {{
			{wait}
			if (read(fds[0], &byte, 1) == 1)
				break;
		}}
	}}
	printf("%ld %.2f %.2f\n", rounds, 1e3 * (seconds(CLOCK_MONOTONIC) - wall), 1e3 * (seconds(CLOCK_THREAD_CPUTIME_ID) - cpu));
}}"#
    );
    let preloaded = Preloaded::new(&[("wait-when-not-ready", parameter)]);
    let printed = preloaded.c(&format!("{SLOW_PEER}{body}"), &[]);
    let numbers: Vec<f64> = printed.split_whitespace().map(|word| word.parse().expect("a number")).collect();
    (numbers[0] as u64, numbers[1], numbers[2], preloaded.counts("wait-when-not-ready"))
}

/// Ways to wait for nothing, before the read that is refused.
const SPINS: [(&str, &str); 5] = [
    ("reads alone", ""),
    ("a poll that may not wait", "struct pollfd p = { fds[0], POLLIN }; if (poll(&p, 1, 0) < 1) continue;"),
    ("a poll for the wrong event", "struct pollfd p = { fds[0], POLLOUT }; poll(&p, 1, 1000);"),
    ("a select for the wrong event", "fd_set w; FD_ZERO(&w); FD_SET(fds[0], &w); select(fds[0] + 1, 0, &w, 0, 0);"),
    ("an epoll for one event too many", "struct epoll_event e; epoll_wait(epoll, &e, 1, 1000);"),
];

#[test]
fn a_spinning_loop_waits_and_answers_as_early() {
    for (name, spin) in SPINS {
        let (rounds, wall, cpu, counts) = twenty_questions(spin, "on");
        // Spinning, there are thousands of rounds to each question.
        assert!(rounds < 20 * 60, "{name}: {rounds} rounds");
        assert!(cpu < 40.0, "{name}: {cpu} ms of CPU time in {wall} ms");
        assert!(wall < 20.0 * 30.0, "{name}: {wall} ms");
        assert!(counts.changed >= 20, "{name}: {counts:?}");
    }
}

#[test]
fn an_inert_shim_lets_it_spin() {
    for (name, spin) in SPINS {
        let (rounds, _, cpu, counts) = twenty_questions(spin, "inert");
        assert!(rounds > 5_000 && cpu > 50.0, "{name}: {rounds} rounds, {cpu} ms of CPU time");
        assert_eq!(counts.changed, 0, "{name}");
        assert!(counts.seen > 5_000, "{name}: {counts:?}");
    }
}

#[test]
fn a_loop_that_waits_by_itself_is_left_alone() {
    let healthy = [
        "struct pollfd p = { fds[0], POLLIN }; poll(&p, 1, 1000);",
        "fd_set r; FD_ZERO(&r); FD_SET(fds[0], &r); select(fds[0] + 1, &r, 0, 0, 0);",
        "event.events = EPOLLIN; epoll_ctl(epoll, EPOLL_CTL_MOD, fds[0], &event); epoll_wait(epoll, &event, 1, 1000);",
        "usleep(1000);",
    ];
    for wait in healthy {
        let (_, _, _, counts) = twenty_questions(wait, "on");
        assert_eq!(counts.changed, 0, "{wait}");
    }
}

#[test]
fn what_becomes_ready_beside_the_spin_is_seen_at_once() {
    // One descriptor is always writable and never written to; bytes come on another, whose epoll is the same.
    let program = r#"static int shorter(const void *one, const void *other)
{
	double difference = *(const double *)one - *(const double *)other;
	return (difference > 0) - (difference < 0);
}

int main(void)
{
	double took[21];
	char byte = 'q';
	int idle[2];
	begin();
	socketpair(AF_UNIX, SOCK_STREAM, 0, idle);
	int epoll = epoll_create1(0);
	struct epoll_event useless = { EPOLLOUT, { .fd = idle[0] } }, useful = { EPOLLIN, { .fd = fds[0] } }, got[2];
	epoll_ctl(epoll, EPOLL_CTL_ADD, idle[0], &useless);
	epoll_ctl(epoll, EPOLL_CTL_ADD, fds[0], &useful);
	for (int i = 0; i < 21; i++) {
		double start = seconds(CLOCK_MONOTONIC);
		write(fds[0], &byte, 1);
		for (int done = 0; !done;) {
			int count = epoll_wait(epoll, got, 2, 1000);
			for (int j = 0; j < count; j++)
				if (got[j].data.fd == fds[0] && read(fds[0], &byte, 1) == 1)
					done = 1;
		}
		took[i] = seconds(CLOCK_MONOTONIC) - start;
	}
	qsort(took, 21, sizeof(took[0]), shorter);
	printf("%.2f\n", 1e3 * took[10]);
}"#;
    let preloaded = Preloaded::new(&[("wait-when-not-ready", "on")]);
    // The middle of 21: on a crowded machine some come late by themselves.
    let usual: f64 = preloaded.c(&format!("{SLOW_PEER}{program}"), &[]).trim().parse().expect("a number");
    assert!(usual < 25.0, "{usual} ms for an answer that is there after 20");
    assert!(preloaded.counts("wait-when-not-ready").changed >= 20);
}

/// Asks a socket's queue until it is empty, as `four-lines` does; the other end reads after 100 ms.
const DRAIN: &str = r#"
static void *reader(void *nothing)
{
	static char bytes[1 << 20];
	usleep(100000);
	while (read(fds[1], bytes, sizeof(bytes)) > 0)
		;
	return 0;
}
int main(void)
{
	static char bytes[20000];
	pthread_t thread;
	int queued, rounds = 0;
	struct epoll_event event = { EPOLLIN, { .fd = 0 } };
	socketpair(AF_UNIX, SOCK_STREAM, 0, fds);
	pthread_create(&thread, 0, reader, 0);
	write(fds[0], bytes, sizeof(bytes));
	int epoll = epoll_create1(0);
	epoll_ctl(epoll, EPOLL_CTL_ADD, fds[0], &event);
	double start = seconds(CLOCK_MONOTONIC);
	for (; !ioctl(fds[0], SIOCOUTQ, &queued) && queued > 0; rounds++) {
		event.events = EPOLLOUT;
		epoll_ctl(epoll, EPOLL_CTL_MOD, fds[0], &event);
		epoll_wait(epoll, &event, 1, 1000);
		event.events = EPOLLIN;
		epoll_ctl(epoll, EPOLL_CTL_MOD, fds[0], &event);
	}
	printf("%d %.2f\n", rounds, 1e3 * (seconds(CLOCK_MONOTONIC) - start));
}"#;

fn rounds_until_drained(shims: &[(&str, &str)]) -> (u64, f64, Preloaded) {
    let preloaded = Preloaded::new(shims);
    let printed = preloaded.c(&format!("{SLOW_PEER}{DRAIN}"), &[]);
    let numbers: Vec<f64> = printed.split_whitespace().map(|word| word.parse().expect("a number")).collect();
    (numbers[0] as u64, numbers[1], preloaded)
}

#[test]
fn a_loop_waits_for_its_queue_and_goes_on_when_it_has_drained() {
    let (rounds, wall, preloaded) = rounds_until_drained(&[("wait-when-not-ready", "on")]);
    assert!(rounds < 60 && (90.0..130.0).contains(&wall), "{rounds} rounds in {wall} ms");
    assert!(preloaded.counts("wait-when-not-ready").changed >= 5);
}

#[test]
fn a_queue_that_seems_empty_is_not_waited_for() {
    let (rounds, wall, preloaded) = rounds_until_drained(&[("send-queue-empty", "on")]);
    assert!(rounds == 0 && wall < 50.0, "{rounds} rounds in {wall} ms");
    assert_eq!(preloaded.counts("send-queue-empty").changed, 1);
}

#[test]
fn inert_shims_tell_the_queue_as_it_is() {
    let (rounds, wall, preloaded) =
        rounds_until_drained(&[("send-queue-empty", "inert"), ("wait-when-not-ready", "inert")]);
    assert!(rounds > 1_000 && wall > 90.0, "{rounds} rounds in {wall} ms");
    assert_eq!(preloaded.counts("send-queue-empty").changed + preloaded.counts("wait-when-not-ready").changed, 0);
    assert!(preloaded.counts("send-queue-empty").seen > 1_000, "the second shim of the chain was not reached");
}

#[test]
fn both_shims_of_a_chain_do_their_work() {
    for shims in [
        [("send-queue-empty", "on"), ("wait-when-not-ready", "on")],
        [("wait-when-not-ready", "on"), ("send-queue-empty", "on")],
    ] {
        let (rounds, _, preloaded) = rounds_until_drained(&shims);
        assert_eq!((rounds, preloaded.counts("send-queue-empty").changed), (0, 1), "{shims:?}");
    }
}
