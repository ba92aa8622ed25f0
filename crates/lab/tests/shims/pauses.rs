//! The shim that stands before sleeps, before those that a runtime makes in waits for events or for other threads.

use crate::preload::Preloaded;

/// Waits for 100 ms in each way that there is, in which nothing comes, by clocks that it reads itself. Prints for each how long it took
/// by those, and by the clock of the day, in milliseconds; at last how far its clock is from the kernel's.
const WAITS: &str = r#"
#include <pthread.h>
#include <poll.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
extern int sem_clockwait(sem_t *, clockid_t, const struct timespec *);
extern int pthread_cond_clockwait(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);
static double at(clockid_t c) { struct timespec t; clock_gettime(c, &t); return 1e3 * t.tv_sec + t.tv_nsec / 1e6; }
static struct timespec in(clockid_t c, int ms)
{
	struct timespec t;
	clock_gettime(c, &t);
	t.tv_nsec += ms * 1000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}
#define TIMED(call) { double m = at(CLOCK_MONOTONIC), r = at(CLOCK_REALTIME); call; \
	printf("%.1f %.1f\n", at(CLOCK_MONOTONIC) - m, at(CLOCK_REALTIME) - r); }
int main(int count, char **names)
{
	int epoll = epoll_create1(0), fds[2];
	struct epoll_event event;
	pipe(fds);
	struct pollfd one = { fds[0], POLLIN };
	struct timespec tenth = { 0, 100000000 }, end;
	pthread_condattr_t monotonic;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_t condition;
	pthread_cond_init(&condition, &monotonic);
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	sem_t semaphore;
	sem_init(&semaphore, 0, 0);
	pthread_mutex_lock(&lock);
	prctl(PR_SET_NAME, names[1]);
	TIMED(epoll_wait(epoll, &event, 1, 100));
	TIMED(epoll_pwait(epoll, &event, 1, 100, 0));
	TIMED(poll(&one, 1, 100));
	TIMED(ppoll(&one, 1, &tenth, 0));
	TIMED(end = in(CLOCK_MONOTONIC, 100); pthread_cond_timedwait(&condition, &lock, &end));
	TIMED(end = in(CLOCK_MONOTONIC, 100); pthread_cond_clockwait(&condition, &lock, CLOCK_MONOTONIC, &end));
	TIMED(end = in(CLOCK_MONOTONIC, 100); sem_clockwait(&semaphore, CLOCK_MONOTONIC, &end));
	/* Longer than a pause, and until a moment by a clock that was put forward. */
	TIMED(epoll_wait(epoll, &event, 1, 200));
	TIMED(end = in(CLOCK_MONOTONIC, 200); pthread_cond_timedwait(&condition, &lock, &end));
	TIMED(end = in(CLOCK_MONOTONIC, 200); clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, 0));
	struct timespec t;
	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
	printf("%.1f 0\n", at(CLOCK_MONOTONIC) - 1e3 * t.tv_sec - t.tv_nsec / 1e6);
}"#;

/// How long each wait took, by the program's own clock and by that of the day, and how often the shim changed one.
fn waits(parameter: &str, thread: &str) -> (Vec<(f64, f64)>, u64) {
    let preloaded = Preloaded::new(&[("sleep-scale", parameter)]);
    let text = preloaded.c(WAITS, &[thread]);
    let number = |text: &str| text.parse::<f64>().expect("a number");
    let pair = |line: &str| line.split_once(' ').map(|(own, day)| (number(own), number(day))).expect("two numbers");
    (text.lines().map(pair).collect(), preloaded.counts("sleep-scale").changed)
}

#[test]
fn pauses_of_that_length_and_thread_are_shortened_and_the_programs_clock_put_forward() {
    let (took, changed) = waits("0.1 70000000 110000000 looper", "looper");
    for (own, day) in &took[..7] {
        assert!((98.0..180.0).contains(own) && (9.0..80.0).contains(day), "{took:?}");
    }
    for (own, day) in &took[7..9] {
        assert!((198.0..280.0).contains(own) && (198.0..280.0).contains(day), "{took:?}");
    }
    // A sleep is scaled however long it is.
    assert!((19.0..90.0).contains(&took[9].1), "{took:?}");
    assert!((620.0..640.0).contains(&took[10].0), "seven times 90 ms: {took:?}");
    assert_eq!(changed, 8);
}

#[test]
fn halves_of_a_pause_take_as_long_as_the_whole() {
    let (took, changed) = waits("halves 70000000 110000000 looper", "looper");
    assert!(took[..7].iter().all(|(own, day)| (98.0..180.0).contains(own) && (98.0..180.0).contains(day)), "{took:?}");
    assert!(took[10].0.abs() < 1.0, "{took:?}");
    assert_eq!(changed, 8);
}

#[test]
fn waits_of_other_threads_and_those_that_nothing_is_said_of_are_left_alone() {
    for (parameter, thread) in [("0.1 70000000 110000000 looper", "other"), ("0.1", "looper"), ("inert", "looper")] {
        let (took, _) = waits(parameter, thread);
        assert!(took[..7].iter().all(|(_, day)| (98.0..180.0).contains(day)), "{parameter} {thread}: {took:?}");
        assert!(took[10].0.abs() < 1.0, "{took:?}");
    }
}
