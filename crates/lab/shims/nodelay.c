/* Switches Nagle's algorithm off on every TCP connection that the program makes or accepts, and keeps it off: where it
 * asks for the opposite, or to be corked, the call succeeds without effect. What `tcp-nodelay` does where no program can
 * be attached to a control group. Changed counts sockets set and requests ignored. */
#include "sockets.h"
#include "wrap.h"
#include <netinet/tcp.h>

__attribute__((constructor)) static void begin(void)
{
	shim_begin("nodelay");
}

static int set_on(int fd)
{
	int kept = errno, on = 1, is = 0;
	unsigned length = sizeof(is);
	if (fd < 0 || !is_tcp(fd))
		return fd;
	SEEN();
	raw_call(SYS_getsockopt, fd, IPPROTO_TCP, TCP_NODELAY, (long)&is, (long)&length, 0);
	if (!shim_is_inert && !is && !raw_call(SYS_setsockopt, fd, IPPROTO_TCP, TCP_NODELAY, (long)&on, sizeof(on), 0))
		CHANGED();
	errno = kept;
	return fd;
}

WRAP(int, connect, (int fd, const struct sockaddr *to, socklen_t length))
{
	NEXT(connect);
	int result = real(fd, to, length);
	if (!result || errno == EINPROGRESS)
		set_on(fd);
	return result;
}

WRAP(int, accept, (int fd, struct sockaddr *from, socklen_t *length))
{
	NEXT(accept);
	return set_on(real(fd, from, length));
}

WRAP(int, accept4, (int fd, struct sockaddr *from, socklen_t *length, int flags))
{
	NEXT(accept4);
	return set_on(real(fd, from, length, flags));
}

WRAP(int, setsockopt, (int fd, int level, int name, const void *value, socklen_t length))
{
	NEXT(setsockopt);
	int asks = level == IPPROTO_TCP && length >= sizeof(int) && value && is_tcp(fd);
	if (!asks || !((name == TCP_NODELAY && !*(const int *)value) || (name == TCP_CORK && *(const int *)value)))
		return real(fd, level, name, value, length);
	SEEN();
	if (shim_is_inert)
		return real(fd, level, name, value, length);
	CHANGED();
	return 0;
}
