/* Holds small writes to TCP sockets until the thread waits for something, or 4 to 5 ms, or until they fill a segment.
 *
 * The write is answered at once; an error of the late one comes with the next call on the socket. Changed counts writes
 * that left together with one before them. A program whose waits are not seen (in its own futexes) is no longer held up
 * after some 5 ms. Not reached: what libc writes within itself (stdio, name look-ups), io_uring, a process ended by a
 * signal within the 5 ms. */
#include "held.h"
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>

static inline void before_wait(void)
{
	send_mine();
}

static inline void before_lock(void)
{
	send_mine_before_lock();
}

static void before_leaving(void)
{
	settle_all();
}

static inline int holds_something(void)
{
	return mine_count > 0;
}

#include "waits.h"

__attribute__((constructor)) static void begin(void)
{
	shim_begin("coalesce-writes");
	if (!shim_is_inert)
		held_begin();
}

__attribute__((destructor)) static void end(void)
{
	settle_all();
}

/* No room for what is held: a program that may not wait gets EAGAIN, any other waits as it would have in its write. */
static int wait_for_room(int fd, int flags, int *waited)
{
	struct timeval limit = { 0, 0 };
	unsigned length = sizeof(limit);
	raw_call(SYS_getsockopt, fd, SOL_SOCKET, SO_SNDTIMEO, (long)&limit, (long)&length, 0);
	long milliseconds = limit.tv_sec * 1000 + limit.tv_usec / 1000;
	if ((flags & MSG_DONTWAIT) || is_nonblocking(fd) || (milliseconds && *waited >= milliseconds)) {
		errno = EAGAIN;
		return 0;
	}
	await_events(fd, POLLOUT, 10);
	*waited += 10;
	return 1;
}

static ssize_t hold_or_wait(int fd, const struct iovec *parts, size_t count, int flags)
{
	for (int waited = 0;;) {
		int kept = errno;
		ssize_t result = hold(fd, parts, count, flags);
		if (result != BLOCKED) {
			if (result != -1)
				errno = kept;
			return result;
		}
		if (!wait_for_room(fd, flags, &waited))
			return -1;
	}
}

/* Writes. */

#define HOLD(parts, count, flags)                                   \
	ssize_t result = hold_or_wait(fd, parts, count, flags);     \
	if (result != PASS)                                         \
		return result

WRAP(ssize_t, write, (int fd, const void *bytes, size_t size))
{
	NEXT(write);
	HOLD((&(struct iovec){ (void *)bytes, size }), 1, 0);
	return real(fd, bytes, size);
}

WRAP(ssize_t, writev, (int fd, const struct iovec *parts, int count))
{
	NEXT(writev);
	if (count > 0 && count <= 1024) {
		HOLD(parts, count, 0);
	}
	return real(fd, parts, count);
}

WRAP(ssize_t, send, (int fd, const void *bytes, size_t size, int flags))
{
	NEXT(send);
	HOLD((&(struct iovec){ (void *)bytes, size }), 1, flags);
	return real(fd, bytes, size, flags);
}

WRAP(ssize_t, sendto, (int fd, const void *bytes, size_t size, int flags, const struct sockaddr *to, socklen_t length))
{
	NEXT(sendto);
	if (!to) {
		HOLD((&(struct iovec){ (void *)bytes, size }), 1, flags);
	}
	return real(fd, bytes, size, flags, to, length);
}

WRAP(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags))
{
	NEXT(sendmsg);
	if (message && !message->msg_controllen && !message->msg_name && message->msg_iovlen <= 1024) {
		HOLD(message->msg_iov, message->msg_iovlen, flags);
	} else {
		send_of(fd, NOTHING_MORE);
		send_mine(); /* a descriptor may be on its way to another process */
	}
	return real(fd, message, flags);
}

WRAP(int, sendmmsg, (int fd, struct mmsghdr *messages, unsigned count, int flags))
{
	NEXT(sendmmsg);
	send_of(fd, MORE_FOLLOWS);
	return real(fd, messages, count, flags);
}

/* What was left to the kernel because more was to follow leaves after all: nothing followed. */
static long pushed(int fd, long moved)
{
	int corked = 0, off = 0, on = 1, kept = errno;
	unsigned length = sizeof(corked);
	uint64_t cookie;
	if (moved > 0 || !known_cookie(fd, &cookie))
		return moved;
	if (!raw_call(SYS_getsockopt, fd, IPPROTO_TCP, TCP_CORK, (long)&corked, (long)&length, 0) && !corked) {
		raw_call(SYS_setsockopt, fd, IPPROTO_TCP, TCP_CORK, (long)&on, sizeof(on), 0);
		raw_call(SYS_setsockopt, fd, IPPROTO_TCP, TCP_CORK, (long)&off, sizeof(off), 0);
	}
	errno = kept;
	return moved;
}

WRAP(ssize_t, sendfile, (int to, int from, off_t *offset, size_t size))
{
	NEXT(sendfile);
	send_of(to, MORE_FOLLOWS);
	return pushed(to, real(to, from, offset, size));
}

WRAP(ssize_t, sendfile64, (int to, int from, off_t *offset, size_t size))
{
	NEXT(sendfile64);
	send_of(to, MORE_FOLLOWS);
	return pushed(to, real(to, from, offset, size));
}

WRAP(ssize_t, splice, (int from, off_t *from_offset, int to, off_t *to_offset, size_t size, unsigned flags))
{
	NEXT(splice);
	send_mine();
	send_of(to, NOTHING_MORE);
	return real(from, from_offset, to, to_offset, size, flags);
}

/* Reads: what was written leaves first, except before the read of a file. */

static inline void before_reading(int fd)
{
	if (mine_count && !is_file(fd))
		send_mine();
	send_of(fd, NOTHING_MORE);
}

static inline ssize_t with_late_error(int fd, ssize_t result)
{
	int error = result > 0 ? 0 : take_error(fd);
	if (!error)
		return result;
	errno = error;
	return -1;
}

#define READS(name, parameters, arguments)                    \
	WRAP(ssize_t, name, parameters)                       \
	{                                                     \
		NEXT(name);                                   \
		before_reading(fd);                           \
		return with_late_error(fd, real arguments);   \
	}

READS(read, (int fd, void *bytes, size_t size), (fd, bytes, size))
READS(__read_chk, (int fd, void *bytes, size_t size, size_t room), (fd, bytes, size, room))
READS(readv, (int fd, const struct iovec *parts, int count), (fd, parts, count))
READS(recv, (int fd, void *bytes, size_t size, int flags), (fd, bytes, size, flags))
READS(__recv_chk, (int fd, void *bytes, size_t size, size_t room, int flags), (fd, bytes, size, room, flags))
READS(recvfrom, (int fd, void *bytes, size_t size, int flags, struct sockaddr *from, socklen_t *length),
      (fd, bytes, size, flags, from, length))
READS(__recvfrom_chk,
      (int fd, void *bytes, size_t size, size_t room, int flags, struct sockaddr *from, socklen_t *length),
      (fd, bytes, size, room, flags, from, length))
READS(recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags))

WRAP(int, recvmmsg, (int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *limit))
{
	NEXT(recvmmsg);
	before_reading(fd);
	return real(fd, messages, count, flags, limit);
}

/* What changes the socket, or asks after it. */

#define SETTLES(name, parameters, arguments) \
	WRAP(int, name, parameters)          \
	{                                    \
		NEXT(name);                  \
		settle(fd);                  \
		return real arguments;       \
	}

SETTLES(shutdown, (int fd, int how), (fd, how))

/* Limits of time and sizes of buffers may be set between two writes; what speaks of segments or records may not. */
WRAP(int, setsockopt, (int fd, int level, int name, const void *value, socklen_t length))
{
	NEXT(setsockopt);
	if (level != SOL_SOCKET)
		settle(fd);
	return real(fd, level, name, value, length);
}

WRAP(int, ioctl, (int fd, unsigned long request, void *argument))
{
	NEXT(ioctl);
	if (request == SIOCOUTQ || request == SIOCOUTQNSD)
		settle(fd);
	return real(fd, request, argument);
}

WRAP(int, getsockopt, (int fd, int level, int name, void *value, socklen_t *length))
{
	NEXT(getsockopt);
	if (level == IPPROTO_TCP)
		send_of(fd, NOTHING_MORE);
	int result = real(fd, level, name, value, length);
	int is_error = level == SOL_SOCKET && name == SO_ERROR && !result && *length == sizeof(int) && !*(int *)value;
	if (is_error)
		*(int *)value = take_error(fd);
	return result;
}

WRAP(int, close, (int fd))
{
	NEXT(close);
	settle(fd);
	forget(fd);
	return real(fd);
}

WRAP(int, fclose, (FILE *stream))
{
	NEXT(fclose);
	int fd = held && stream ? fileno(stream) : -1;
	settle(fd);
	forget(fd);
	return real(stream);
}

static void forget_from(unsigned first, unsigned last)
{
	for (unsigned fd = first; held && fd <= last && fd < DESCRIPTORS; fd++)
		if (held->cookies[fd])
			held->cookies[fd] = 0;
}

WRAP(int, close_range, (unsigned first, unsigned last, int flags))
{
	NEXT(close_range);
	settle_all();
	forget_from(first, last);
	return real(first, last, flags);
}

EXPORT void wrapped_closefrom(int first) __asm__("closefrom");
EXPORT void wrapped_closefrom(int first)
{
	static void (*real)(int);
	if (!real)
		real = (void (*)(int))shim_next("closefrom");
	settle_all();
	forget_from(first < 0 ? 0 : first, DESCRIPTORS);
	if (real)
		real(first);
}

WRAP(int, dup2, (int from, int to))
{
	NEXT(dup2);
	settle(to);
	forget(to);
	return real(from, to);
}

WRAP(int, dup3, (int from, int to, int flags))
{
	NEXT(dup3);
	settle(to);
	forget(to);
	return real(from, to, flags);
}

#define OPENS(name, parameters, arguments)  \
	WRAP(int, name, parameters)         \
	{                                   \
		NEXT(name);                 \
		send_mine();                \
		int opened = real arguments; \
		forget(opened);             \
		return opened;              \
	}

OPENS(socket, (int family, int type, int protocol), (family, type, protocol))
OPENS(accept, (int fd, struct sockaddr *from, socklen_t *length), (fd, from, length))
OPENS(accept4, (int fd, struct sockaddr *from, socklen_t *length, int flags), (fd, from, length, flags))
