/* Multiplies the times after which a wait for descriptors gives up by a factor, its parameter (`0.2`, `10`): those of poll, ppoll,
 * select, pselect, epoll_wait and its kin, and of sockets (SO_RCVTIMEO, SO_SNDTIMEO). A wait for ever, one that may not wait, and a
 * sleep, which waits for no descriptor, stay as they are. Changed counts times that were scaled. */
#include "scale.h"
#include <sys/epoll.h>

__attribute__((constructor)) static void begin(void)
{
	shim_begin("timeout-scale");
	read_factor();
}

#define POLLS(name, parameters, arguments)                  \
	WRAP(int, name, parameters)                         \
	{                                                   \
		NEXT(name);                                 \
		if (count && limit > 0)                     \
			limit = scaled_milliseconds(limit); \
		return real arguments;                      \
	}

#define TIMED_POLLS(name, parameters, arguments)              \
	WRAP(int, name, parameters)                           \
	{                                                     \
		NEXT(name);                                   \
		struct timespec other;                        \
		if (count && is_sane(limit)) {                \
			other = timespec(scaled(nanoseconds(limit))); \
			limit = &other;                       \
		}                                             \
		return real arguments;                        \
	}

DESCRIPTOR_WAITS(POLLS, TIMED_POLLS)
POLLS(epoll_wait, (int epoll, struct epoll_event *events, int count, int limit), (epoll, events, count, limit))
POLLS(epoll_pwait, (int epoll, struct epoll_event *events, int count, int limit, const sigset_t *mask),
      (epoll, events, count, limit, mask))
TIMED_POLLS(epoll_pwait2,
	    (int epoll, struct epoll_event *events, int count, const struct timespec *limit, const sigset_t *mask),
	    (epoll, events, count, limit, mask))

WRAP(int, select, (int count, fd_set *reads, fd_set *writes, fd_set *exceptions, struct timeval *limit))
{
	NEXT(select);
	if (!count || !is_sane_interval(limit))
		return real(count, reads, writes, exceptions, limit);
	*limit = timeval(scaled(limit->tv_sec * MILLION + limit->tv_usec));
	int result = real(count, reads, writes, exceptions, limit);
	*limit = timeval((limit->tv_sec * MILLION + limit->tv_usec) / factor); /* what is left, in the program's own time */
	return result;
}

WRAP(int, setsockopt, (int fd, int level, int name, const void *value, socklen_t length))
{
	NEXT(setsockopt);
	struct timeval other;
	int is_time = level == SOL_SOCKET && (name == SO_RCVTIMEO || name == SO_SNDTIMEO);
	if (is_time && length >= sizeof(other) && is_sane_interval(value)) {
		other = *(const struct timeval *)value;
		other = timeval(scaled(other.tv_sec * MILLION + other.tv_usec));
		return real(fd, level, name, &other, sizeof(other));
	}
	return real(fd, level, name, value, length);
}
