/* Has threads and processes that share a listening socket take its connections in turn: who took the last one is told that there is
 * none (EAGAIN) until somebody else has taken the next, or some milliseconds are over. For that all of them are woken: a listening
 * socket is watched without EPOLLEXCLUSIVE. Changed counts the connections that were left to others. */
#include "sockets.h"
#include "wrap.h"
#include <sys/epoll.h>

/* Who does not come within this time, in nanoseconds, is busy. */
#define PATIENCE 5000000

/* Descriptors that are only told of once (EPOLLET): a connection that is left to others would be forgotten. */
#define MOST 65536
static unsigned char told_once[MOST];

/* Since when the thread leaves a connection to others; 0 where it does not. */
static __thread int64_t since __attribute__((tls_model("initial-exec")));

__attribute__((constructor)) static void begin(void)
{
	shim_begin("accept-in-turn");
}

static int64_t now(void)
{
	struct timespec time = { 0, 0 };
	raw_call(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&time, 0, 0, 0, 0);
	return time.tv_sec * 1000000000ll + time.tv_nsec;
}

static int is_left_to_others(int fd)
{
	SEEN();
	uint64_t self = raw_call(SYS_gettid, 0, 0, 0, 0, 0, 0);
	if (shim_is_inert || fd < 0 || fd >= MOST || told_once[fd] || !is_nonblocking(fd) || !await_events(fd, POLLIN, 0))
		return 0;
	if (__atomic_load_n(&shim_counts->spare, __ATOMIC_RELAXED) == self) {
		int64_t time = now();
		if (!since) {
			since = time;
			CHANGED();
		}
		if (time - since < PATIENCE)
			return 1;
	}
	since = 0;
	return 0;
}

/* Remembers who took a connection. */
static int taken(int connection)
{
	if (connection >= 0 && !shim_is_inert)
		__atomic_store_n(&shim_counts->spare, (uint64_t)raw_call(SYS_gettid, 0, 0, 0, 0, 0, 0), __ATOMIC_RELAXED);
	return connection;
}

WRAP(int, accept, (int fd, struct sockaddr *from, socklen_t *length))
{
	NEXT(accept);
	if (is_left_to_others(fd)) {
		errno = EAGAIN;
		return -1;
	}
	return taken(real(fd, from, length));
}

WRAP(int, accept4, (int fd, struct sockaddr *from, socklen_t *length, int flags))
{
	NEXT(accept4);
	if (is_left_to_others(fd)) {
		errno = EAGAIN;
		return -1;
	}
	return taken(real(fd, from, length, flags));
}

WRAP(int, epoll_ctl, (int epoll, int what, int fd, struct epoll_event *event))
{
	NEXT(epoll_ctl);
	if (shim_is_inert || !event || fd < 0 || fd >= MOST || option_of(fd, SO_ACCEPTCONN) != 1)
		return real(epoll, what, fd, event);
	told_once[fd] = !!(event->events & EPOLLET);
	struct epoll_event all = *event;
	all.events &= ~EPOLLEXCLUSIVE;
	return real(epoll, what, fd, &all);
}
