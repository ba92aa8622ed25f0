/* Answers `Expect: 100-continue` in the server's place: after the head of an HTTP/1.1 request with that line was written
 * on a stream socket, in one call, the socket is ready to be read at once, and the first that is read from it is
 * `HTTP/1.1 100 Continue`. Another one from the server is harmless: a client has to take any number of them.
 *
 * Changed counts answers given. Not reached: TLS, heads written in pieces, what libc writes and reads within itself. */
#include "sockets.h"
#include "wrap.h"
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/uio.h>

#define DESCRIPTORS 65536
#define LONGEST_HEAD 16384
#define AT_A_TIME 64

static const char answer[] = "HTTP/1.1 100 Continue\r\n\r\n";
#define ANSWER_LENGTH (sizeof(answer) - 1)

struct pending {
	int waiting[AT_A_TIME]; /* descriptors with an answer to be read, -1 for none; searched only if there are any */
	int count;
	unsigned char left[DESCRIPTORS]; /* bytes of the answer that are still to be read */
	struct { int epoll; uint32_t events; uint64_t data; } interest[DESCRIPTORS];
};

static struct pending *pending;

__attribute__((constructor)) static void begin(void)
{
	shim_begin("answer-100-continue");
	void *memory = mmap(0, sizeof(struct pending), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	/* 18 = MADV_WIPEONFORK (Linux 4.14): who forked reads its own answers. */
	if (memory != MAP_FAILED && !madvise(memory, sizeof(struct pending), 18))
		pending = memory;
}

static inline unsigned left_of(int fd)
{
	return pending && pending->count && fd >= 0 && fd < DESCRIPTORS ? pending->left[fd] : 0;
}

static void arm(int fd)
{
	for (int i = 0; i < AT_A_TIME && !pending->left[fd]; i++)
		if (!pending->left[pending->waiting[i]] || pending->waiting[i] == fd) {
			pending->waiting[i] = fd;
			pending->left[fd] = ANSWER_LENGTH;
			__atomic_fetch_add(&pending->count, 1, __ATOMIC_RELAXED);
		}
}

static void disarm(int fd)
{
	if (left_of(fd)) {
		pending->left[fd] = 0;
		__atomic_fetch_sub(&pending->count, 1, __ATOMIC_RELAXED);
	}
}

/* Requests. */

static int begins_with(const char *text, const char *end, const char *word)
{
	for (; *word; word++, text++)
		if (text == end || (*text | 0x20) != (*word | 0x20))
			return 0;
	return 1;
}

/* Whether these bytes begin with the whole head of a request that expects an answer before its body. */
static int expects(const char *text, size_t size)
{
	const char *end = text + (size < LONGEST_HEAD ? size : LONGEST_HEAD), *line = text;
	int asks = 0, lines = 0;
	if (size < 40 || *text < 'A' || *text > 'Z')
		return 0;
	for (const char *at = text; at + 1 < end; at++) {
		if (at[0] != '\r' || at[1] != '\n')
			continue;
		if (!lines++ && (at - line < 14 || !begins_with(at - 9, at, " HTTP/1.1")))
			return 0;
		if (at == line)
			return asks;
		if (begins_with(line, at, "expect:")) {
			for (line += 7; line < at && *line == ' ';)
				line++;
			asks = begins_with(line, at, "100-continue");
		}
		line = at + 2;
	}
	return 0;
}

static ssize_t written(int fd, const char *text, size_t size, ssize_t result)
{
	if (result < 40 || !pending || fd < 0 || fd >= DESCRIPTORS)
		return result;
	if (!expects(text, size < (size_t)result ? size : (size_t)result) || !is_stream(fd))
		return result;
	SEEN();
	int unread = 0;
	/* What has arrived already belongs to a request before this one. */
	raw_call(SYS_ioctl, fd, FIONREAD, (long)&unread, 0, 0, 0);
	if (!shim_is_inert && !unread)
		arm(fd);
	return result;
}

/* Apart from the others, which may be called where there is little stack. */
__attribute__((noinline)) static ssize_t written_together(int fd, const struct iovec *parts, size_t count, ssize_t result)
{
	char together[LONGEST_HEAD];
	size_t size = 0;
	for (size_t i = 0; i < count; i++) {
		size_t room = sizeof(together) - size, length = parts[i].iov_len < room ? parts[i].iov_len : room;
		memcpy(together + size, parts[i].iov_base, length);
		size += length;
	}
	return written(fd, together, size, result);
}

static ssize_t written_in_parts(int fd, const struct iovec *parts, size_t count, ssize_t result)
{
	const char *text = result > 0 ? parts[0].iov_base : 0;
	if (result < 40 || (parts[0].iov_len && (*text < 'A' || *text > 'Z')))
		return result;
	return count == 1 ? written(fd, text, parts[0].iov_len, result) : written_together(fd, parts, count, result);
}

WRAP(ssize_t, write, (int fd, const void *bytes, size_t size))
{
	NEXT(write);
	return written(fd, bytes, size, real(fd, bytes, size));
}

WRAP(ssize_t, send, (int fd, const void *bytes, size_t size, int flags))
{
	NEXT(send);
	return written(fd, bytes, size, real(fd, bytes, size, flags));
}

WRAP(ssize_t, sendto, (int fd, const void *bytes, size_t size, int flags, const struct sockaddr *to, socklen_t length))
{
	NEXT(sendto);
	return written(fd, bytes, size, real(fd, bytes, size, flags, to, length));
}

WRAP(ssize_t, writev, (int fd, const struct iovec *parts, int count))
{
	NEXT(writev);
	return written_in_parts(fd, parts, count, real(fd, parts, count));
}

WRAP(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags))
{
	NEXT(sendmsg);
	ssize_t result = real(fd, message, flags);
	return result > 0 ? written_in_parts(fd, message->msg_iov, message->msg_iovlen, result) : result;
}

/* Reads. */

static size_t answered(int fd, void *bytes, size_t size, int flags)
{
	unsigned left = left_of(fd);
	if (!left || !size || (flags & MSG_OOB))
		return 0;
	size_t length = left < size ? left : size;
	memcpy(bytes, answer + ANSWER_LENGTH - left, length);
	if (flags & MSG_PEEK)
		return length;
	if (left == ANSWER_LENGTH)
		CHANGED();
	if (length == left)
		disarm(fd);
	else
		pending->left[fd] = left - length;
	return length;
}

static size_t answered_in_parts(int fd, const struct iovec *parts, size_t count, int flags)
{
	for (size_t i = 0; i < count; i++)
		if (parts[i].iov_len)
			return answered(fd, parts[i].iov_base, parts[i].iov_len, flags);
	return 0;
}

#define READS(name, parameters, arguments, flags)                \
	WRAP(ssize_t, name, parameters)                          \
	{                                                        \
		NEXT(name);                                      \
		size_t length = answered(fd, bytes, size, flags); \
		return length ? (ssize_t)length : real arguments; \
	}

READS(read, (int fd, void *bytes, size_t size), (fd, bytes, size), 0)
READS(__read_chk, (int fd, void *bytes, size_t size, size_t room), (fd, bytes, size, room), size > room ? MSG_OOB : 0)
READS(recv, (int fd, void *bytes, size_t size, int flags), (fd, bytes, size, flags), flags)
READS(__recv_chk, (int fd, void *bytes, size_t size, size_t room, int flags), (fd, bytes, size, room, flags),
      size > room ? MSG_OOB : flags)
READS(recvfrom, (int fd, void *bytes, size_t size, int flags, struct sockaddr *from, socklen_t *length_of_from),
      (fd, bytes, size, flags, from, length_of_from), from ? MSG_OOB : flags)
READS(__recvfrom_chk,
      (int fd, void *bytes, size_t size, size_t room, int flags, struct sockaddr *from, socklen_t *length_of_from),
      (fd, bytes, size, room, flags, from, length_of_from), from || size > room ? MSG_OOB : flags)

WRAP(ssize_t, readv, (int fd, const struct iovec *parts, int count))
{
	NEXT(readv);
	size_t length = count > 0 ? answered_in_parts(fd, parts, count, 0) : 0;
	return length ? (ssize_t)length : real(fd, parts, count);
}

WRAP(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags))
{
	NEXT(recvmsg);
	size_t length = left_of(fd) ? answered_in_parts(fd, message->msg_iov, message->msg_iovlen, flags) : 0;
	if (!length)
		return real(fd, message, flags);
	message->msg_controllen = message->msg_namelen = message->msg_flags = 0;
	return length;
}

WRAP(int, ioctl, (int fd, unsigned long request, int *argument))
{
	NEXT(ioctl);
	int result = real(fd, request, argument);
	if (!result && request == FIONREAD && left_of(fd))
		*argument += left_of(fd);
	return result;
}

/* Polls: with an answer to be read among what is asked for, nobody waits. */

static int has_answer(const struct pollfd *polled, nfds_t count)
{
	if (!pending || !pending->count)
		return 0;
	for (nfds_t i = 0; i < count; i++)
		if ((polled[i].events & POLLIN) && left_of(polled[i].fd))
			return 1;
	return 0;
}

static int with_answers(struct pollfd *polled, nfds_t count, int result)
{
	if (result < 0)
		return result;
	for (nfds_t i = 0; i < count; i++) {
		if (!(polled[i].events & POLLIN) || !left_of(polled[i].fd))
			continue;
		result += !polled[i].revents;
		polled[i].revents |= polled[i].events & (POLLIN | POLLRDNORM);
	}
	return result;
}

static const struct timespec no_time;

#define POLLS(name, parameters, arguments, at_once)                     \
	WRAP(int, name, parameters)                                     \
	{                                                               \
		NEXT(name);                                             \
		if (!has_answer(polled, count))                         \
			return real arguments;                          \
		return with_answers(polled, count, real at_once);       \
	}

POLLS(poll, (struct pollfd *polled, nfds_t count, int limit), (polled, count, limit), (polled, count, 0))
POLLS(__poll_chk, (struct pollfd *polled, nfds_t count, int limit, size_t room), (polled, count, limit, room),
      (polled, count, 0, room))
POLLS(ppoll, (struct pollfd *polled, nfds_t count, const struct timespec *limit, const sigset_t *mask),
      (polled, count, limit, mask), (polled, count, &no_time, mask))
POLLS(__ppoll_chk,
      (struct pollfd *polled, nfds_t count, const struct timespec *limit, const sigset_t *mask, size_t room),
      (polled, count, limit, mask, room), (polled, count, &no_time, mask, room))

static int asks_for_answer(int count, const fd_set *asked)
{
	for (int i = 0; pending && pending->count && asked && i < AT_A_TIME; i++) {
		int fd = pending->waiting[i];
		if (left_of(fd) && fd < count && fd < FD_SETSIZE && FD_ISSET(fd, asked))
			return 1;
	}
	return 0;
}

static int select_with_answers(const fd_set *asked, fd_set *reads, int count, int result)
{
	for (int i = 0; result >= 0 && i < AT_A_TIME; i++) {
		int fd = pending->waiting[i];
		if (!left_of(fd) || fd >= count || fd >= FD_SETSIZE || !FD_ISSET(fd, asked) || FD_ISSET(fd, reads))
			continue;
		FD_SET(fd, reads);
		result++;
	}
	return result;
}

WRAP(int, select, (int count, fd_set *reads, fd_set *writes, fd_set *exceptions, struct timeval *limit))
{
	NEXT(select);
	if (!asks_for_answer(count, reads))
		return real(count, reads, writes, exceptions, limit);
	fd_set asked = *reads;
	struct timeval none = { 0, 0 };
	return select_with_answers(&asked, reads, count, real(count, reads, writes, exceptions, &none));
}

WRAP(int, pselect,
     (int count, fd_set *reads, fd_set *writes, fd_set *exceptions, const struct timespec *limit, const sigset_t *mask))
{
	NEXT(pselect);
	if (!asks_for_answer(count, reads))
		return real(count, reads, writes, exceptions, limit, mask);
	fd_set asked = *reads;
	return select_with_answers(&asked, reads, count, real(count, reads, writes, exceptions, &no_time, mask));
}

WRAP(int, epoll_ctl, (int epoll, int what, int fd, struct epoll_event *event))
{
	NEXT(epoll_ctl);
	int result = real(epoll, what, fd, event);
	if (result || !pending || fd < 0 || fd >= DESCRIPTORS)
		return result;
	pending->interest[fd].epoll = what == EPOLL_CTL_DEL ? -1 : epoll;
	pending->interest[fd].events = what == EPOLL_CTL_DEL ? 0 : event->events;
	pending->interest[fd].data = what == EPOLL_CTL_DEL ? 0 : event->data.u64;
	return result;
}

static int is_awaited(int epoll, int fd)
{
	return left_of(fd) && pending->interest[fd].epoll == epoll && (pending->interest[fd].events & EPOLLIN);
}

static int epoll_has_answer(int epoll)
{
	for (int i = 0; pending && pending->count && i < AT_A_TIME; i++)
		if (is_awaited(epoll, pending->waiting[i]))
			return 1;
	return 0;
}

static int epoll_with_answers(int epoll, struct epoll_event *events, int room, int result)
{
	for (int i = 0; result >= 0 && i < AT_A_TIME; i++) {
		int fd = pending->waiting[i], j = 0;
		if (!is_awaited(epoll, fd))
			continue;
		while (j < result && events[j].data.u64 != pending->interest[fd].data)
			j++;
		if (j == room)
			break;
		if (j == result)
			events[result++] = (struct epoll_event){ 0, { .u64 = pending->interest[fd].data } };
		events[j].events |= EPOLLIN;
		/* An event that comes once has come. */
		if (pending->interest[fd].events & (EPOLLET | EPOLLONESHOT))
			pending->interest[fd].events &= ~EPOLLIN;
	}
	return result;
}

#define EPOLLS(name, parameters, arguments, at_once)                              \
	WRAP(int, name, parameters)                                               \
	{                                                                         \
		NEXT(name);                                                       \
		if (!epoll_has_answer(epoll))                                     \
			return real arguments;                                    \
		return epoll_with_answers(epoll, events, count, real at_once);    \
	}

EPOLLS(epoll_wait, (int epoll, struct epoll_event *events, int count, int limit), (epoll, events, count, limit),
       (epoll, events, count, 0))
EPOLLS(epoll_pwait, (int epoll, struct epoll_event *events, int count, int limit, const sigset_t *mask),
       (epoll, events, count, limit, mask), (epoll, events, count, 0, mask))
EPOLLS(epoll_pwait2,
       (int epoll, struct epoll_event *events, int count, const struct timespec *limit, const sigset_t *mask),
       (epoll, events, count, limit, mask), (epoll, events, count, &no_time, mask))

/* Descriptors that mean something else from now on. */

WRAP(int, close, (int fd))
{
	NEXT(close);
	disarm(fd);
	if (pending && fd >= 0 && fd < DESCRIPTORS && pending->interest[fd].events)
		pending->interest[fd].events = 0;
	return real(fd);
}

WRAP(int, dup2, (int from, int to))
{
	NEXT(dup2);
	disarm(to);
	return real(from, to);
}

WRAP(int, shutdown, (int fd, int how))
{
	NEXT(shutdown);
	if (how != SHUT_WR)
		disarm(fd);
	return real(fd, how);
}
