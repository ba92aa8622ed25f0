/* Times that are multiplied by a factor, a shim's parameter (`0.5`, `2`). */
#pragma once
#include "sockets.h"
#include "wrap.h"
#include <sys/select.h>

#define MILLION 1000000ll

static double factor = 1;

/* Takes the factor from the parameter. What is none, or out of bounds, leaves everything as it is. */
static void read_factor(void)
{
	double number = 0, place = 1;
	if (shim_is_inert)
		return;
	for (const char *at = shim_parameter; *at; at++) {
		if (*at == '.' && place == 1) {
			place = 0.1;
		} else if (*at < '0' || *at > '9') {
			return;
		} else if (place < 1) {
			number += place * (*at - '0');
			place /= 10;
		} else {
			number = number * 10 + (*at - '0');
		}
	}
	if (number >= 0.001 && number <= 1000)
		factor = number;
}

static int64_t scaled(int64_t time)
{
	SEEN();
	if (factor == 1 || time <= 0)
		return time;
	CHANGED();
	return time * factor;
}

/* The same in milliseconds, as poll takes them: never none, which would not wait at all. */
static int scaled_milliseconds(int limit)
{
	int64_t other = scaled(limit);
	return other > 0x7fffffff ? 0x7fffffff : other ? other : 1;
}

static int64_t nanoseconds(const struct timespec *time)
{
	return time->tv_sec * 1000000000ll + time->tv_nsec;
}

static struct timespec timespec(int64_t nanoseconds)
{
	return (struct timespec){ nanoseconds / 1000000000, nanoseconds % 1000000000 };
}

/* What is left of a scaled time, in the program's own. */
static inline void unscale(struct timespec *rest)
{
	if (rest)
		*rest = timespec(nanoseconds(rest) / factor);
}

static int is_sane(const struct timespec *length)
{
	return length && length->tv_sec >= 0 && length->tv_sec < 1000000000 && length->tv_nsec >= 0 && length->tv_nsec < 1000000000;
}

static int is_sane_interval(const struct timeval *length)
{
	return length && length->tv_sec >= 0 && length->tv_sec <= 1000000000 && length->tv_usec >= 0;
}

static struct timeval timeval(int64_t microseconds)
{
	return (struct timeval){ microseconds / MILLION, microseconds % MILLION };
}

/* Waits for descriptors, which may be none: then they are sleeps. POLLS wraps those with a limit in milliseconds, TIMED_POLLS those
 * with a timespec. */
#define DESCRIPTOR_WAITS(POLLS, TIMED_POLLS) \
	POLLS(poll, (struct pollfd *polled, nfds_t count, int limit), (polled, count, limit)) \
	POLLS(__poll_chk, (struct pollfd *polled, nfds_t count, int limit, size_t room), (polled, count, limit, room)) \
	TIMED_POLLS(ppoll, (struct pollfd *polled, nfds_t count, const struct timespec *limit, const sigset_t *mask), \
		    (polled, count, limit, mask)) \
	TIMED_POLLS(__ppoll_chk, \
		    (struct pollfd *polled, nfds_t count, const struct timespec *limit, const sigset_t *mask, size_t room), \
		    (polled, count, limit, mask, room)) \
	TIMED_POLLS(pselect, \
		    (int count, fd_set *reads, fd_set *writes, fd_set *exceptions, const struct timespec *limit, const sigset_t *mask), \
		    (count, reads, writes, exceptions, limit, mask))
