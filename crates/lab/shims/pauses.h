/* Waits in which a runtime sleeps: it waits for events, or for other threads, for as long as it wants to sleep, and nothing comes.
 *
 * The runtime looks at a clock afterwards, and waits for the rest where too little time has passed. So whoever makes such a wait
 * shorter puts the clocks forward that the process measures times with, by what is left out; that of the day stays as it is.
 * What gives the kernel a moment by these clocks is corrected.
 *
 * Which waits are meant stands in the parameter behind the factor: the shortest and the longest, in nanoseconds, and the name of the
 * threads. All other waits stay as they are: they give something up, and do not sleep. */
#pragma once
#include "raw.h"
#include "scale.h"
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <time.h>

static int64_t shortest_pause, longest_pause;
static const char *sleeper = "";
/* By how much the clocks of this process are ahead of the kernel's, in nanoseconds. */
static int64_t skipped;

static int64_t read_number(char **at)
{
	int64_t number = 0;
	for (; **at >= '0' && **at <= '9'; (*at)++)
		number = number * 10 + (**at - '0');
	if (**at == ' ')
		(*at)++;
	return number;
}

/* Takes what stands behind the first blank of the parameter off it. */
static void read_pauses(void)
{
	char *at = shim_parameter;
	while (*at && *at != ' ')
		at++;
	if (!*at)
		return;
	*at++ = 0;
	shortest_pause = read_number(&at);
	longest_pause = read_number(&at);
	sleeper = at;
}

static int is_pause(int64_t length)
{
	if (!longest_pause || length < shortest_pause || length > longest_pause)
		return 0;
	char name[16] = "";
	return !raw_call(SYS_prctl, PR_GET_NAME, (long)name, 0, 0, 0, 0) && !strcmp(name, sleeper);
}

/* A wait was shorter than the program believes. One that was longer needs nothing: the program overslept. */
static void skip(int64_t length)
{
	if (length > 0)
		__atomic_fetch_add(&skipped, length, __ATOMIC_RELAXED);
}

static int is_monotonic(clockid_t clock)
{
	return clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_RAW || clock == CLOCK_MONOTONIC_COARSE || clock == CLOCK_BOOTTIME;
}

static int64_t ahead(clockid_t clock)
{
	return is_monotonic(clock) ? skipped : 0;
}

static int kernel_time(clockid_t clock, struct timespec *time)
{
	return raw_call(SYS_clock_gettime, clock, (long)time, 0, 0, 0, 0) != 0;
}

/* Which clock a moment is by, where the call does not say: a machine has not been up for half of the years since 1970. */
static clockid_t clock_of(const struct timespec *moment)
{
	struct timespec day;
	if (kernel_time(CLOCK_REALTIME, &day))
		return CLOCK_REALTIME;
	return moment->tv_sec < day.tv_sec / 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

#define EVENT_WAITS(POLLS, TIMED_POLLS) \
	POLLS(epoll_wait, (int epoll, struct epoll_event *events, int count, int limit), (epoll, events, count, limit)) \
	POLLS(epoll_pwait, (int epoll, struct epoll_event *events, int count, int limit, const sigset_t *mask), \
	      (epoll, events, count, limit, mask)) \
	TIMED_POLLS(epoll_pwait2, \
		    (int epoll, struct epoll_event *events, int count, const struct timespec *limit, const sigset_t *mask), \
		    (epoll, events, count, limit, mask))
