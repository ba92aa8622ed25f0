/* Makes sleeps longer or shorter by a factor, its parameter (`0.5`, `2`): nanosleep, clock_nanosleep, usleep, sleep,
 * thrd_sleep, and poll, ppoll, select, pselect that wait for no descriptor. Times that end a wait for descriptors, for locks
 * or for other threads stay as they are. A sleep until a moment (TIMER_ABSTIME) is scaled by what is left until then.
 * With the parameter `halves` each sleep is as long as before, and is taken in two halves.
 *
 * A runtime that sleeps in other waits (see pauses.h) has those scaled too, where the parameter names them: `0.5 80000000 110000000 node`.
 * Changed counts sleeps scaled or halved. */
#include "pauses.h"

static int in_halves;

__attribute__((constructor)) static void begin(void)
{
	shim_begin("sleep-scale");
	read_pauses();
	in_halves = !shim_is_inert && !strcmp(shim_parameter, "halves");
	if (!in_halves)
		read_factor();
}

/* Whether a sleep of so many units is taken in two halves. */
static int halves(int64_t length)
{
	if (!in_halves || length < 2)
		return 0;
	SEEN();
	CHANGED();
	return 1;
}

/* What is left of a sleep whose first half was cut off. */
static void add(struct timespec *rest, int64_t second)
{
	if (rest)
		*rest = timespec(nanoseconds(rest) + second);
}

WRAP(int, nanosleep, (const struct timespec *length, struct timespec *rest))
{
	NEXT(nanosleep);
	if (!is_sane(length))
		return real(length, rest);
	int64_t whole = nanoseconds(length);
	if (halves(whole)) {
		struct timespec first = timespec(whole / 2), second = timespec(whole - whole / 2);
		int result = real(&first, rest);
		if (!result)
			return real(&second, rest);
		add(rest, nanoseconds(&second));
		return result;
	}
	struct timespec other = timespec(scaled(nanoseconds(length)));
	int result = real(&other, rest);
	if (result)
		unscale(rest);
	return result;
}

WRAP(int, clock_nanosleep, (clockid_t clock, int flags, const struct timespec *length, struct timespec *rest))
{
	NEXT(clock_nanosleep);
	struct timespec now = { 0, 0 }, whole;
	int is_until = flags & TIMER_ABSTIME;
	if (!is_sane(length) || (is_until && kernel_time(clock, &now)))
		return real(clock, flags, length, rest);
	if (is_until) { /* by the kernel's clock */
		whole = timespec(nanoseconds(length) - ahead(clock));
		length = &whole;
	}
	int64_t left = nanoseconds(length) - nanoseconds(&now);
	if (halves(left)) {
		struct timespec first = timespec(nanoseconds(&now) + left / 2), second = timespec(left - left / 2);
		int result = real(clock, flags, &first, rest);
		if (!result)
			return real(clock, flags, is_until ? length : &second, rest);
		if (!is_until)
			add(rest, nanoseconds(&second));
		return result;
	}
	struct timespec other = timespec(nanoseconds(&now) + scaled(left));
	int result = real(clock, flags, left > 0 ? &other : length, rest);
	if (result && !is_until)
		unscale(rest);
	return result;
}

WRAP(int, thrd_sleep, (const struct timespec *length, struct timespec *rest))
{
	NEXT(thrd_sleep);
	if (!is_sane(length))
		return real(length, rest);
	int64_t whole = nanoseconds(length);
	if (halves(whole)) {
		struct timespec first = timespec(whole / 2), second = timespec(whole - whole / 2);
		int result = real(&first, rest);
		if (!result)
			return real(&second, rest);
		if (result == -1)
			add(rest, nanoseconds(&second));
		return result;
	}
	struct timespec other = timespec(scaled(nanoseconds(length)));
	int result = real(&other, rest);
	if (result == -1)
		unscale(rest);
	return result;
}

WRAP(int, usleep, (unsigned length))
{
	NEXT(usleep);
	if (halves(length)) {
		int result = real(length / 2);
		return result ? result : real(length - length / 2);
	}
	return real(scaled(length));
}

/* A scaled second may be a fraction of one, which sleep cannot take. */
WRAP(unsigned, sleep, (unsigned length))
{
	static int (*next_nanosleep)(const struct timespec *, struct timespec *);
	NEXT(sleep);
	if (!next_nanosleep)
		next_nanosleep = (__typeof__(next_nanosleep))shim_next("nanosleep");
	int64_t whole = length * 1000000000ll;
	struct timespec rest = { 0, 0 };
	if (next_nanosleep && halves(whole)) {
		struct timespec half = timespec(whole / 2);
		int was_cut = next_nanosleep(&half, &rest);
		if (was_cut)
			add(&rest, nanoseconds(&half));
		else if (!next_nanosleep(&half, &rest))
			return 0;
		return rest.tv_sec + (rest.tv_nsec >= 500000000);
	}
	if (factor == 1 || !next_nanosleep) {
		SEEN();
		return real(length);
	}
	struct timespec other = timespec(scaled(whole));
	if (!next_nanosleep(&other, &rest))
		return 0;
	unscale(&rest);
	return rest.tv_sec + (rest.tv_nsec >= 500000000);
}

/* Whether a wait in a call for descriptors is a sleep: there are none, or the runtime sleeps so. */
#define IS_SLEEP(length) (!count || is_pause(length))

#define POLLS(name, parameters, arguments)                                                                 \
	WRAP(int, name, parameters)                                                                        \
	{                                                                                                  \
		NEXT(name);                                                                                \
		int whole = limit;                                                                         \
		if (limit <= 0 || !IS_SLEEP(limit * MILLION))                                              \
			return real arguments;                                                             \
		if (halves(limit)) {                                                                       \
			limit /= 2;                                                                        \
			int result = real arguments;                                                       \
			if (result)                                                                        \
				return result;                                                             \
			limit = whole - limit;                                                             \
			return real arguments;                                                             \
		}                                                                                          \
		limit = scaled_milliseconds(limit);                                                        \
		int result = real arguments;                                                               \
		if (!result && count)                                                                      \
			skip((whole - limit) * MILLION);                                                   \
		return result;                                                                             \
	}

#define TIMED_POLLS(name, parameters, arguments)                           \
	WRAP(int, name, parameters)                                        \
	{                                                                  \
		NEXT(name);                                                \
		struct timespec other;                                     \
		int64_t whole = is_sane(limit) ? nanoseconds(limit) : 0;   \
		if (!limit || whole <= 0 || !IS_SLEEP(whole))              \
			return real arguments;                             \
		limit = &other;                                            \
		if (halves(whole)) {                                       \
			other = timespec(whole / 2);                       \
			int result = real arguments;                       \
			if (result)                                        \
				return result;                             \
			other = timespec(whole - whole / 2);               \
			return real arguments;                             \
		}                                                          \
		other = timespec(scaled(whole));                           \
		int64_t taken = nanoseconds(&other);                       \
		int result = real arguments;                               \
		if (!result && count)                                      \
			skip(whole - taken);                               \
		return result;                                             \
	}

DESCRIPTOR_WAITS(POLLS, TIMED_POLLS)
EVENT_WAITS(POLLS, TIMED_POLLS)

WRAP(int, select, (int count, fd_set *reads, fd_set *writes, fd_set *exceptions, struct timeval *limit))
{
	NEXT(select);
	if (count || !is_sane_interval(limit))
		return real(count, reads, writes, exceptions, limit);
	int64_t whole = limit->tv_sec * MILLION + limit->tv_usec;
	if (halves(whole)) {
		int64_t second = whole - whole / 2;
		*limit = timeval(whole / 2);
		int result = real(count, reads, writes, exceptions, limit);
		if (result) { /* what is left of both halves */
			*limit = timeval(limit->tv_sec * MILLION + limit->tv_usec + second);
			return result;
		}
		*limit = timeval(second);
		return real(count, reads, writes, exceptions, limit);
	}
	*limit = timeval(scaled(whole)); /* the kernel, too, writes what is left there */
	return real(count, reads, writes, exceptions, limit);
}

/* Waits for other threads until a moment, by a clock that is known; `result` says that nobody came. */
#define LOCK_WAITS(name, parameters, clock, nobody_came, until)                                       \
	WRAP(int, name, parameters)                                                                   \
	{                                                                                             \
		NEXT(name);                                                                           \
		struct timespec now, other;                                                           \
		const struct timespec *given = end;                                                   \
		if (!is_sane(given) || !is_monotonic(clock) || kernel_time(CLOCK_MONOTONIC, &now))    \
			return real until(given);                                                     \
		int64_t end_at = nanoseconds(given) - skipped, left = end_at - nanoseconds(&now);     \
		struct timespec whole = timespec(end_at);                                             \
		if (end_at < 0 || left <= 0 || !is_pause(left))                                       \
			return real until(end_at < 0 ? given : &whole);                               \
		if (halves(left)) {                                                                   \
			other = timespec(nanoseconds(&now) + left / 2);                               \
			int result = real until(&other);                                              \
			return nobody_came ? real until(&whole) : result;                             \
		}                                                                                     \
		int64_t taken = scaled(left);                                                         \
		other = timespec(nanoseconds(&now) + taken);                                          \
		int result = real until(&other);                                                      \
		if (nobody_came)                                                                      \
			skip(left - taken);                                                           \
		return result;                                                                        \
	}

#define ON_CONDITION(end) (condition, lock, end)
#define ON_CONDITION_BY_CLOCK(end) (condition, lock, clock, end)
#define ON_SEMAPHORE_BY_CLOCK(end) (semaphore, clock, end)
LOCK_WAITS(pthread_cond_timedwait, (void *condition, void *lock, const struct timespec *end), clock_of(given),
	   result == ETIMEDOUT, ON_CONDITION)
LOCK_WAITS(pthread_cond_clockwait, (void *condition, void *lock, clockid_t clock, const struct timespec *end), clock,
	   result == ETIMEDOUT, ON_CONDITION_BY_CLOCK)
LOCK_WAITS(sem_clockwait, (void *semaphore, clockid_t clock, const struct timespec *end), clock,
	   result == -1 && errno == ETIMEDOUT, ON_SEMAPHORE_BY_CLOCK)

WRAP(int, timerfd_settime, (int fd, int flags, const struct itimerspec *given, struct itimerspec *old))
{
	NEXT(timerfd_settime);
	if (!skipped || !(flags & TFD_TIMER_ABSTIME) || !given || !is_monotonic(clock_of(&given->it_value)))
		return real(fd, flags, given, old);
	struct itimerspec other = *given;
	int64_t end = nanoseconds(&given->it_value) - skipped;
	if (end > 0)
		other.it_value = timespec(end);
	return real(fd, flags, &other, old);
}

WRAP(int, clock_gettime, (clockid_t clock, struct timespec *time))
{
	NEXT(clock_gettime);
	int result = real(clock, time);
	if (!result && time && skipped && is_monotonic(clock))
		*time = timespec(nanoseconds(time) + skipped);
	return result;
}
