/* Leaves TCP sockets without a cork: setting TCP_CORK does nothing, and writes lose MSG_MORE, so that the kernel sends what it has.
 * Changed counts both. */
#include "sockets.h"
#include "wrap.h"
#include <netinet/tcp.h>

__attribute__((constructor)) static void begin(void)
{
	shim_begin("uncorked");
}

WRAP(int, setsockopt, (int fd, int level, int name, const void *value, socklen_t length))
{
	NEXT(setsockopt);
	int corks = level == IPPROTO_TCP && name == TCP_CORK && length >= sizeof(int) && value && *(const int *)value;
	if (!corks || !is_tcp(fd))
		return real(fd, level, name, value, length);
	SEEN();
	if (shim_is_inert)
		return real(fd, level, name, value, length);
	CHANGED();
	return 0;
}

/* The flags of a write, without the one that more is to follow. */
static int uncorked(int fd, int flags)
{
	if (!(flags & MSG_MORE) || !is_tcp(fd))
		return flags;
	SEEN();
	if (shim_is_inert)
		return flags;
	CHANGED();
	return flags & ~MSG_MORE;
}

WRAP(ssize_t, send, (int fd, const void *from, size_t length, int flags))
{
	NEXT(send);
	return real(fd, from, length, uncorked(fd, flags));
}

WRAP(ssize_t, sendto,
     (int fd, const void *from, size_t length, int flags, const struct sockaddr *to, socklen_t to_length))
{
	NEXT(sendto);
	return real(fd, from, length, uncorked(fd, flags), to, to_length);
}

WRAP(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags))
{
	NEXT(sendmsg);
	return real(fd, message, uncorked(fd, flags));
}
