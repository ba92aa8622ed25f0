/* What a descriptor is, asked of the kernel without disturbing errno. */
#pragma once
#include "raw.h"
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

static inline int option_of(int fd, int name)
{
	int value = 0;
	unsigned length = sizeof(value);
	long failed = raw_call(SYS_getsockopt, fd, SOL_SOCKET, name, (long)&value, (long)&length, 0);
	return failed ? -1 : value;
}

/* Whether it is a TCP socket (or Multipath TCP, 262, which is used alike). */
static inline int is_tcp(int fd)
{
	int protocol = option_of(fd, SO_PROTOCOL);
	return protocol == IPPROTO_TCP || protocol == 262;
}

/* Whether it is a stream socket of any family. */
static inline int is_stream(int fd)
{
	return option_of(fd, SO_TYPE) == SOCK_STREAM;
}

/* Whether it is connected: not listening, not on its way. */
static inline int is_connected(int fd)
{
	struct sockaddr_storage peer;
	unsigned length = sizeof(peer);
	return raw_call(SYS_getpeername, fd, (long)&peer, (long)&length, 0, 0, 0) == 0;
}

/* The number that the kernel never gives to a second socket, or 0. */
static inline uint64_t cookie_of(int fd)
{
	uint64_t cookie = 0;
	unsigned length = sizeof(cookie);
	long failed = raw_call(SYS_getsockopt, fd, SOL_SOCKET, SO_COOKIE, (long)&cookie, (long)&length, 0);
	return failed ? 0 : cookie;
}

/* The events among those asked for, after waiting at most so long. */
static inline int await_events(int fd, short events, long milliseconds)
{
	struct pollfd one = { .fd = fd, .events = events };
	struct timespec limit = { milliseconds / 1000, milliseconds % 1000 * 1000000 };
	return raw_call(SYS_ppoll, (long)&one, 1, (long)&limit, 0, 0, 0) > 0 ? one.revents : 0;
}

/* A read of a regular file or a folder does not wait for anybody. */
static inline int is_file(int fd)
{
	struct stat about;
	if (raw_call(SYS_fstat, fd, (long)&about, 0, 0, 0, 0))
		return 0;
	return S_ISREG(about.st_mode) || S_ISDIR(about.st_mode);
}

static inline int is_nonblocking(int fd)
{
	long flags = raw_call(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0);
	return flags > 0 && (flags & O_NONBLOCK);
}
