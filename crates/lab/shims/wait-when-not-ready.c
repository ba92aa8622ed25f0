/* Inserts the wait that a spinning loop lacks.
 *
 * A thread spins when, again and again and without a byte moved in between, it learns at once that a descriptor is not
 * ready (EAGAIN), that nothing is ready (a poll that may not wait), or that something is ready which it then leaves as
 * it is. After eight such answers the next one is preceded by a wait for what could help it: descriptors that said
 * EAGAIN, in the direction in which they did; whatever else the poll asks for but what was ready in vain; and send
 * queues that the thread asked about, until one is empty or half as long. At most 10 ms, so that nothing hangs.
 *
 * Changed counts the waits. Not reached: spinning on memory, more descriptors than fit below, and threads that move
 * bytes in between. Reads that libc makes within itself are not seen: what was ready in vain must also have kept its
 * number of unread bytes. */
#include "sockets.h"
#include "wrap.h"
#include <linux/sockios.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/uio.h>

#define REPEATS 8
#define PLACES 32
#define MOST_WAITED 256
/* Answers further apart than this are not a spin: something is computed in between. What is ready in vain costs more
 * calls a round than EAGAIN does. */
#define GAP_IN_VAIN_NS 2000000
#define GAP_NOT_READY_NS 100000
#define LONGEST_NS 10000000
#define STEP_NS 500000

struct spin {
	int64_t last;
	int polls; /* in a row, that helped nothing */
	int is_crowded;
	int wanted_count, vain_count, queue_count, unread_count;
	struct { int fd; short events; int repeats; } wanted[PLACES];
	struct { int fd; uint64_t data; short events; } vain[PLACES];
	struct { int fd; int bytes; } unread[PLACES];
	struct { int fd; int queued; } queues[PLACES];
};

static __thread __attribute__((tls_model("initial-exec"))) struct spin spin;
static int is_active;

__attribute__((constructor)) static void begin(void)
{
	shim_begin("wait-when-not-ready");
	is_active = !shim_is_inert;
}

static int64_t now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ll + time.tv_nsec;
}

static inline void progress(void)
{
	spin.polls = spin.is_crowded = spin.wanted_count = spin.vain_count = spin.queue_count = spin.unread_count = 0;
}

static void not_ready(int64_t gap)
{
	int64_t time = now();
	if (time - spin.last > gap)
		progress();
	spin.last = time;
}

static int number_of(int fd, unsigned long request)
{
	int number = 0;
	return raw_call(SYS_ioctl, fd, request, (long)&number, 0, 0, 0) ? -1 : number;
}

/* Waiting. */

struct waited {
	int count;
	struct pollfd fds[MOST_WAITED];
};

static void add(struct waited *waited, int fd, short events)
{
	if (!events)
		return;
	for (int i = 0; i < waited->count; i++)
		if (waited->fds[i].fd == fd) {
			waited->fds[i].events |= events;
			return;
		}
	if (waited->count < MOST_WAITED)
		waited->fds[waited->count++] = (struct pollfd){ .fd = fd, .events = events };
	else
		spin.is_crowded = 1;
}

static int a_queue_shrank(void)
{
	for (int i = 0; i < spin.queue_count; i++) {
		int queued = number_of(spin.queues[i].fd, SIOCOUTQ);
		if (queued <= spin.queues[i].queued / 2)
			return 1;
	}
	return 0;
}

/* Waits for what is asked for and for what this thread was refused; says whether `fd` has become ready. */
__attribute__((noinline)) static int wait_for(struct waited *waited, int fd, int64_t longest)
{
	for (int i = 0; i < spin.wanted_count; i++)
		add(waited, spin.wanted[i].fd, spin.wanted[i].events);
	if (spin.is_crowded)
		return 0;
	CHANGED();
	for (int i = 0; i < spin.queue_count; i++)
		spin.queues[i].queued = number_of(spin.queues[i].fd, SIOCOUTQ);
	int64_t end = now() + longest, time, ready = 0;
	while (!ready && (time = now()) < end) {
		int64_t step = spin.queue_count && end - time > STEP_NS ? STEP_NS : end - time;
		struct timespec limit = { 0, step };
		ready = raw_call(SYS_ppoll, (long)waited->fds, waited->count, (long)&limit, 0, 0, 0);
		if (spin.queue_count && a_queue_shrank())
			break;
	}
	spin.last = now();
	for (int i = 0; ready > 0 && i < waited->count; i++)
		if (waited->fds[i].fd == fd && waited->fds[i].revents)
			return 1;
	return 0;
}

/* A descriptor refuses: whether to call again, because it has become ready in a wait of ours. */
static int refused(int fd, short events)
{
	int kept = errno, again = 0, i;
	SEEN();
	not_ready(spin.polls ? GAP_IN_VAIN_NS : GAP_NOT_READY_NS);
	for (i = 0; i < spin.wanted_count; i++)
		if (spin.wanted[i].fd == fd && spin.wanted[i].events == events)
			break;
	if (i == PLACES) {
		spin.is_crowded = 1;
	} else {
		if (i == spin.wanted_count) {
			spin.wanted_count++;
			spin.wanted[i].fd = fd;
			spin.wanted[i].events = events;
			spin.wanted[i].repeats = 0;
		}
		/* A loop that polls in between is made to wait there, with all that it asks for. */
		if (++spin.wanted[i].repeats > REPEATS && !spin.polls && is_active) {
			struct waited waited = { 0 };
			again = wait_for(&waited, fd, LONGEST_NS);
		}
	}
	errno = kept;
	return again;
}

/* What every call that moves bytes does with its result. */
#define MOVES(name, parameters, arguments, waits_for)                                              \
	WRAP(ssize_t, name, parameters)                                                            \
	{                                                                                          \
		NEXT(name);                                                                        \
		ssize_t result = real arguments;                                                   \
		if (result >= 0 || (errno != EAGAIN && errno != EINTR))                            \
			progress();                                                                \
		else if (errno == EAGAIN && refused(fd, waits_for) && (result = real arguments) >= 0) \
			progress();                                                                \
		return result;                                                                     \
	}

MOVES(read, (int fd, void *bytes, size_t size), (fd, bytes, size), POLLIN)
MOVES(__read_chk, (int fd, void *bytes, size_t size, size_t room), (fd, bytes, size, room), POLLIN)
MOVES(readv, (int fd, const struct iovec *parts, int count), (fd, parts, count), POLLIN)
MOVES(recv, (int fd, void *bytes, size_t size, int flags), (fd, bytes, size, flags), POLLIN)
MOVES(__recv_chk, (int fd, void *bytes, size_t size, size_t room, int flags), (fd, bytes, size, room, flags), POLLIN)
MOVES(recvfrom, (int fd, void *bytes, size_t size, int flags, struct sockaddr *from, socklen_t *length),
      (fd, bytes, size, flags, from, length), POLLIN)
MOVES(__recvfrom_chk,
      (int fd, void *bytes, size_t size, size_t room, int flags, struct sockaddr *from, socklen_t *length),
      (fd, bytes, size, room, flags, from, length), POLLIN)
MOVES(recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags), POLLIN)
MOVES(write, (int fd, const void *bytes, size_t size), (fd, bytes, size), POLLOUT)
MOVES(writev, (int fd, const struct iovec *parts, int count), (fd, parts, count), POLLOUT)
MOVES(send, (int fd, const void *bytes, size_t size, int flags), (fd, bytes, size, flags), POLLOUT)
MOVES(sendto, (int fd, const void *bytes, size_t size, int flags, const struct sockaddr *to, socklen_t length),
      (fd, bytes, size, flags, to, length), POLLOUT)
MOVES(sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags), POLLOUT)
MOVES(sendfile, (int fd, int from, off_t *offset, size_t size), (fd, from, offset, size), POLLOUT)
MOVES(sendfile64, (int fd, int from, off_t *offset, size_t size), (fd, from, offset, size), POLLOUT)

/* Calls after which everything may be otherwise. */
#define ADVANCES(type, name, parameters, arguments) \
	WRAP(type, name, parameters)                \
	{                                           \
		NEXT(name);                         \
		progress();                         \
		return real arguments;              \
	}

ADVANCES(int, accept4, (int fd, struct sockaddr *from, socklen_t *length, int flags), (fd, from, length, flags))
ADVANCES(int, accept, (int fd, struct sockaddr *from, socklen_t *length), (fd, from, length))
ADVANCES(int, connect, (int fd, const struct sockaddr *to, socklen_t length), (fd, to, length))
ADVANCES(int, close, (int fd), (fd))
ADVANCES(int, shutdown, (int fd, int how), (fd, how))
ADVANCES(ssize_t, splice, (int from, off_t *at, int to, off_t *to_at, size_t size, unsigned flags),
         (from, at, to, to_at, size, flags))
ADVANCES(int, recvmmsg, (int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *limit),
         (fd, messages, count, flags, limit))
ADVANCES(int, sendmmsg, (int fd, struct mmsghdr *messages, unsigned count, int flags), (fd, messages, count, flags))
ADVANCES(int, nanosleep, (const struct timespec *length, struct timespec *rest), (length, rest))
ADVANCES(int, clock_nanosleep, (clockid_t clock, int flags, const struct timespec *length, struct timespec *rest),
         (clock, flags, length, rest))

WRAP(int, ioctl, (int fd, unsigned long request, int *argument))
{
	NEXT(ioctl);
	int result = real(fd, request, argument);
	if (result || request != SIOCOUTQ || !argument || !*argument)
		return result;
	for (int i = 0; i < spin.queue_count; i++)
		if (spin.queues[i].fd == fd)
			return result;
	if (spin.queue_count < PLACES) {
		spin.queues[spin.queue_count].fd = fd;
		spin.queues[spin.queue_count++].queued = *argument;
	}
	return result;
}

/* Polls. What was ready and left as it was is compared at the next poll. */

static void ready_in_vain(int fd, uint64_t data, short events)
{
	if (spin.vain_count == PLACES) {
		spin.is_crowded = 1;
		return;
	}
	spin.vain[spin.vain_count].fd = fd;
	spin.vain[spin.vain_count].data = data;
	spin.vain[spin.vain_count++].events = events;
}

/* Counts a poll that came back at once; what was ready before it is forgotten, to be noted anew. */
static int polled_again(int is_ready)
{
	int kept = errno;
	SEEN();
	not_ready(is_ready ? GAP_IN_VAIN_NS : GAP_NOT_READY_NS);
	errno = kept;
	spin.vain_count = 0;
	return ++spin.polls;
}

/* Whether a descriptor has as many unread bytes as when this was last asked. */
static int is_still_unread(int fd)
{
	int bytes = number_of(fd, FIONREAD), i = 0;
	while (i < spin.unread_count && spin.unread[i].fd != fd)
		i++;
	if (bytes < 0 || i == PLACES)
		return 0;
	int is_same = i < spin.unread_count && spin.unread[i].bytes == bytes;
	spin.unread_count += i == spin.unread_count;
	spin.unread[i].fd = fd;
	spin.unread[i].bytes = bytes;
	return is_same;
}

/* What is still worth waiting for of the events asked for: not what was ready in vain. */
static short worth(int fd, int by_data, uint64_t data, short asked)
{
	for (int i = 0; i < spin.vain_count; i++) {
		short events = spin.vain[i].events;
		if (by_data ? spin.vain[i].data != data : spin.vain[i].fd != fd)
			continue;
		if ((events & (POLLIN | POLLHUP)) && !is_still_unread(fd))
			return asked;
		return events & (POLLHUP | POLLERR) ? 0 : asked & ~events; /* those two come unasked */
	}
	return asked;
}

static int may_wait(void)
{
	return spin.polls > REPEATS && !spin.is_crowded && is_active;
}

static int64_t longest_of(void)
{
	/* A poll that may not wait and finds nothing: its program may have other work. */
	return spin.vain_count ? LONGEST_NS : LONGEST_NS / 10;
}

static void wait_before_poll(const struct pollfd *polled, nfds_t count)
{
	struct waited waited = { 0 };
	if (!may_wait() || count > MOST_WAITED)
		return;
	for (nfds_t i = 0; i < count; i++)
		if (polled[i].fd >= 0)
			add(&waited, polled[i].fd, worth(polled[i].fd, 0, 0, polled[i].events));
	wait_for(&waited, -1, longest_of());
}

static void after_poll(const struct pollfd *polled, nfds_t count, int result, int may_block)
{
	if (result < 0 || (!result && may_block) || !count)
		return progress();
	polled_again(result > 0);
	for (nfds_t i = 0; result && i < count; i++)
		if (polled[i].fd >= 0 && polled[i].revents)
			ready_in_vain(polled[i].fd, 0, polled[i].revents);
}

#define POLLS(name, parameters, arguments, may_block)           \
	WRAP(int, name, parameters)                             \
	{                                                       \
		NEXT(name);                                     \
		int kept = errno;                               \
		wait_before_poll(polled, count);                \
		errno = kept;                                   \
		int result = real arguments;                    \
		after_poll(polled, count, result, may_block);   \
		return result;                                  \
	}

#define BLOCKS (!limit || limit->tv_sec || limit->tv_nsec)

POLLS(poll, (struct pollfd *polled, nfds_t count, int limit), (polled, count, limit), limit)
POLLS(__poll_chk, (struct pollfd *polled, nfds_t count, int limit, size_t room), (polled, count, limit, room), limit)
POLLS(ppoll, (struct pollfd *polled, nfds_t count, const struct timespec *limit, const sigset_t *mask),
      (polled, count, limit, mask), BLOCKS)
POLLS(__ppoll_chk,
      (struct pollfd *polled, nfds_t count, const struct timespec *limit, const sigset_t *mask, size_t room),
      (polled, count, limit, mask, room), BLOCKS)

/* The interest of an epoll, as the kernel lists it: lines of `tfd: N events: HEX data: HEX ...`. */

static uint64_t number_after(const char **at, const char *end, char key, unsigned base)
{
	const char *p = *at;
	while (p + 1 < end && !(p[0] == key && p[1] == ':') && !(key != 't' && p[0] == 't' && p[1] == 'f'))
		p++;
	if (p + 1 < end && p[0] == key)
		p += 2;
	while (p < end && *p == ' ')
		p++;
	uint64_t number = 0;
	for (; p < end; p++) {
		unsigned digit = *p >= '0' && *p <= '9' ? *p - '0' : *p >= 'a' && *p <= 'f' ? *p - 'a' + 10 : 99;
		if (digit >= base)
			break;
		number = number * base + digit;
	}
	*at = p;
	return number;
}

static long read_interest(int epoll, char *text, long size)
{
	char path[64] = "/proc/self/fdinfo/", digits[12];
	int length = 18, count = 0;
	do
		digits[count++] = '0' + epoll % 10;
	while (epoll /= 10);
	while (count)
		path[length++] = digits[--count];
	int fd = raw_call(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
	if (fd < 0)
		return 0;
	long total = 0, got;
	while (total < size && (got = raw_call(SYS_read, fd, (long)text + total, size - total, 0, 0, 0)) > 0)
		total += got;
	raw_call(SYS_close, fd, 0, 0, 0, 0, 0);
	return total;
}

/* Apart from its callers, which may have little stack. */
__attribute__((noinline)) static void wait_for_interest(int epoll)
{
	char text[16384];
	struct waited waited = { 0 };
	long size = read_interest(epoll, text, sizeof(text));
	if (size <= 0 || size == sizeof(text))
		return;
	const char *at = text, *end = text + size;
	while (at + 4 < end) {
		if (memcmp(at, "tfd:", 4)) {
			at++;
			continue;
		}
		at += 2;
		int fd = number_after(&at, end, 'd', 10);
		uint32_t asked = number_after(&at, end, 's', 16);
		uint64_t data = number_after(&at, end, 'a', 16);
		short events = asked & (POLLIN | POLLPRI | POLLOUT | POLLRDHUP);
		/* An event that comes once is never in vain: another thread may see to it. */
		add(&waited, fd, asked & (EPOLLET | EPOLLONESHOT) ? events : worth(fd, 1, data, events));
	}
	wait_for(&waited, -1, longest_of());
}

static void wait_before_epoll(int epoll)
{
	if (may_wait() && epoll >= 0)
		wait_for_interest(epoll);
}

static void after_epoll(const struct epoll_event *events, int result, int may_block)
{
	if (result < 0 || (!result && may_block))
		return progress();
	polled_again(result > 0);
	for (int i = 0; i < result; i++)
		ready_in_vain(-1, events[i].data.u64, events[i].events);
}

#define EPOLLS(name, parameters, arguments, may_block)        \
	WRAP(int, name, parameters)                           \
	{                                                     \
		NEXT(name);                                   \
		int kept = errno;                             \
		wait_before_epoll(epoll);                     \
		errno = kept;                                 \
		int result = real arguments;                  \
		after_epoll(events, result, may_block);       \
		return result;                                \
	}

EPOLLS(epoll_wait, (int epoll, struct epoll_event *events, int count, int limit), (epoll, events, count, limit), limit)
EPOLLS(epoll_pwait, (int epoll, struct epoll_event *events, int count, int limit, const sigset_t *mask),
       (epoll, events, count, limit, mask), limit)
EPOLLS(epoll_pwait2,
       (int epoll, struct epoll_event *events, int count, const struct timespec *limit, const sigset_t *mask),
       (epoll, events, count, limit, mask), BLOCKS)

WRAP(int, epoll_ctl, (int epoll, int what, int fd, struct epoll_event *event))
{
	NEXT(epoll_ctl);
	if (what != EPOLL_CTL_MOD)
		progress();
	return real(epoll, what, fd, event);
}

/* select, by way of the same notes. */

static int to_polled(int count, const fd_set *reads, const fd_set *writes, struct pollfd *polled)
{
	int made = 0;
	for (int fd = 0; fd < count; fd++) {
		short events = (reads && FD_ISSET(fd, reads) ? POLLIN : 0) | (writes && FD_ISSET(fd, writes) ? POLLOUT : 0);
		if (events && made == MOST_WAITED)
			return -1;
		if (events)
			polled[made++] = (struct pollfd){ .fd = fd, .events = events, .revents = events };
	}
	return made;
}

#define SELECTS(name, parameters, arguments, may_block)                                 \
	WRAP(int, name, parameters)                                                     \
	{                                                                               \
		NEXT(name);                                                             \
		struct pollfd polled[MOST_WAITED];                                      \
		int kept = errno, is_small = count <= FD_SETSIZE, can_block = may_block; \
		if (is_small && may_wait()) {                                           \
			int made = to_polled(count, reads, writes, polled);             \
			if (made >= 0)                                                  \
				wait_before_poll(polled, made);                         \
		}                                                                       \
		errno = kept;                                                           \
		int result = real arguments;                                            \
		int made = is_small && result > 0 ? to_polled(count, reads, writes, polled) : 0; \
		after_poll(polled, made > 0 ? made : is_small && !result, made > 0 ? result : 0, can_block); \
		return result;                                                          \
	}

SELECTS(select, (int count, fd_set *reads, fd_set *writes, fd_set *exceptions, struct timeval *limit),
        (count, reads, writes, exceptions, limit), !limit || limit->tv_sec || limit->tv_usec)
SELECTS(pselect,
        (int count, fd_set *reads, fd_set *writes, fd_set *exceptions, const struct timespec *limit, const sigset_t *mask),
        (count, reads, writes, exceptions, limit, mask), BLOCKS)
