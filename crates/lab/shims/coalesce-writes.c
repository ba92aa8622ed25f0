/* Holds small writes to TCP sockets until the thread waits for something, or 4 to 5 ms, or until they fill a segment.
 *
 * The write is answered at once; an error of the late one comes with the next call on the socket. Changed counts writes
 * that left together with one before them. A program whose waits are not seen (in its own futexes) is no longer held up
 * after some 5 ms. Not reached: what libc writes within itself (stdio, name look-ups), io_uring, a process ended by a
 * signal within the 5 ms. */
#include "held.h"
#include "wrap.h"
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>

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

/* Waits. */

#define WAITS(type, name, parameters, arguments) \
	WRAP(type, name, parameters)             \
	{                                        \
		NEXT(name);                      \
		send_mine();                     \
		return real arguments;           \
	}

/* Some programs ask before every write whether they may write. That is no wait for an answer. */
static int asks_only_to_write(const struct pollfd *polled, nfds_t count)
{
	for (nfds_t i = 0; i < count; i++)
		if (polled[i].events & ~(POLLOUT | POLLWRNORM | POLLERR | POLLHUP))
			return 0;
	return mine_count && count;
}

#define POLLS(name, parameters, arguments, at_once)                     \
	WRAP(int, name, parameters)                                     \
	{                                                               \
		NEXT(name);                                             \
		if (asks_only_to_write(polled, count)) {                \
			int ready = real at_once;                       \
			if (ready)                                      \
				return ready;                           \
		}                                                       \
		send_mine();                                            \
		return real arguments;                                  \
	}

static const struct timespec no_time;

POLLS(poll, (struct pollfd *polled, nfds_t count, int limit), (polled, count, limit), (polled, count, 0))
POLLS(__poll_chk, (struct pollfd *polled, nfds_t count, int limit, size_t room), (polled, count, limit, room),
      (polled, count, 0, room))
POLLS(ppoll, (struct pollfd *polled, nfds_t count, const struct timespec *limit, const sigset_t *mask),
      (polled, count, limit, mask), (polled, count, &no_time, mask))
POLLS(__ppoll_chk,
      (struct pollfd *polled, nfds_t count, const struct timespec *limit, const sigset_t *mask, size_t room),
      (polled, count, limit, mask, room), (polled, count, &no_time, mask, room))

WRAP(int, select, (int count, fd_set *reads, fd_set *writes, fd_set *exceptions, struct timeval *limit))
{
	NEXT(select);
	if (mine_count && writes && !reads && !exceptions && count <= FD_SETSIZE) {
		fd_set asked = *writes;
		struct timeval none = { 0, 0 };
		int ready = real(count, 0, writes, 0, &none);
		if (ready)
			return ready;
		*writes = asked;
	}
	send_mine();
	return real(count, reads, writes, exceptions, limit);
}

WAITS(int, pselect,
      (int count, fd_set *reads, fd_set *writes, fd_set *exceptions, const struct timespec *limit, const sigset_t *mask),
      (count, reads, writes, exceptions, limit, mask))
WAITS(int, epoll_wait, (int epoll, struct epoll_event *events, int count, int limit), (epoll, events, count, limit))
WAITS(int, epoll_pwait, (int epoll, struct epoll_event *events, int count, int limit, const sigset_t *mask),
      (epoll, events, count, limit, mask))
WAITS(int, epoll_pwait2,
      (int epoll, struct epoll_event *events, int count, const struct timespec *limit, const sigset_t *mask),
      (epoll, events, count, limit, mask))
WAITS(int, nanosleep, (const struct timespec *length, struct timespec *rest), (length, rest))
WAITS(int, clock_nanosleep, (clockid_t clock, int flags, const struct timespec *length, struct timespec *rest),
      (clock, flags, length, rest))
WAITS(int, usleep, (useconds_t length), (length))
WAITS(unsigned, sleep, (unsigned length), (length))
WAITS(int, connect, (int fd, const struct sockaddr *to, socklen_t length), (fd, to, length))
WAITS(pid_t, wait, (int *status), (status))
WAITS(pid_t, waitpid, (pid_t pid, int *status, int options), (pid, status, options))
WAITS(pid_t, wait3, (int *status, int options, void *usage), (status, options, usage))
WAITS(pid_t, wait4, (pid_t pid, int *status, int options, void *usage), (pid, status, options, usage))
WAITS(int, waitid, (int kind, int id, siginfo_t *about, int options), (kind, id, about, options))
WAITS(int, pause, (void), ())
WAITS(int, sigsuspend, (const sigset_t *mask), (mask))
WAITS(int, sigwait, (const sigset_t *set, int *signal), (set, signal))
WAITS(int, sigwaitinfo, (const sigset_t *set, siginfo_t *about), (set, about))
WAITS(int, sigtimedwait, (const sigset_t *set, siginfo_t *about, const struct timespec *limit), (set, about, limit))
WAITS(int, getaddrinfo, (const char *node, const char *service, const void *hints, void *found),
      (node, service, hints, found))

/* Waits for other threads. */

#define LOCKS(name, parameters, arguments)       \
	WRAP(int, name, parameters)              \
	{                                        \
		NEXT(name);                      \
		send_mine_before_lock();         \
		return real arguments;           \
	}

LOCKS(pthread_cond_wait, (void *condition, void *lock), (condition, lock))
LOCKS(pthread_cond_timedwait, (void *condition, void *lock, const struct timespec *end), (condition, lock, end))
LOCKS(pthread_cond_clockwait, (void *condition, void *lock, clockid_t clock, const struct timespec *end),
      (condition, lock, clock, end))
LOCKS(pthread_join, (unsigned long thread, void **result), (thread, result))
LOCKS(sem_wait, (void *semaphore), (semaphore))
LOCKS(sem_timedwait, (void *semaphore, const struct timespec *end), (semaphore, end))
LOCKS(sem_clockwait, (void *semaphore, clockid_t clock, const struct timespec *end), (semaphore, clock, end))

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

/* What starts another program, or ends this one. */

#define LEAVES(type, name, parameters, arguments) \
	WRAP(type, name, parameters)              \
	{                                         \
		NEXT(name);                       \
		settle_all();                     \
		return real arguments;            \
	}

LEAVES(pid_t, fork, (void), ())
LEAVES(pid_t, _Fork, (void), ())
LEAVES(int, daemon, (int keep_folder, int keep_output), (keep_folder, keep_output))
LEAVES(int, system, (const char *command), (command))
LEAVES(int, posix_spawn, (pid_t *pid, const char *path, const void *actions, const void *attributes, char *const *arguments, char *const *environment),
       (pid, path, actions, attributes, arguments, environment))
LEAVES(int, posix_spawnp, (pid_t *pid, const char *path, const void *actions, const void *attributes, char *const *arguments, char *const *environment),
       (pid, path, actions, attributes, arguments, environment))
LEAVES(int, execve, (const char *path, char *const *arguments, char *const *environment), (path, arguments, environment))
LEAVES(int, execv, (const char *path, char *const *arguments), (path, arguments))
LEAVES(int, execvp, (const char *file, char *const *arguments), (file, arguments))
LEAVES(int, execvpe, (const char *file, char *const *arguments, char *const *environment), (file, arguments, environment))
LEAVES(int, fexecve, (int fd, char *const *arguments, char *const *environment), (fd, arguments, environment))
LEAVES(int, execveat, (int folder, const char *path, char *const *arguments, char *const *environment, int flags),
       (folder, path, arguments, environment, flags))

/* The arguments of execl and its kin, as an array; with `environment` also what follows their end. */
#define GATHER(arguments, environment)                                           \
	char *arguments[1024] = { (char *)first };                               \
	va_list rest;                                                            \
	va_start(rest, first);                                                   \
	for (int i = 1; arguments[i - 1] && i < 1023; i++)                       \
		arguments[i] = va_arg(rest, char *);                             \
	char *const *environment = 0;                                            \
	(void)environment

WRAP(int, execl, (const char *path, const char *first, ...))
{
	GATHER(arguments, environment);
	va_end(rest);
	return wrapped_execv(path, arguments);
}

WRAP(int, execlp, (const char *file, const char *first, ...))
{
	GATHER(arguments, environment);
	va_end(rest);
	return wrapped_execvp(file, arguments);
}

WRAP(int, execle, (const char *path, const char *first, ...))
{
	GATHER(arguments, environment);
	environment = va_arg(rest, char *const *);
	va_end(rest);
	return wrapped_execve(path, arguments, environment);
}

ENDS(_exit, settle_all())
ENDS(_Exit, settle_all())
