/* Lets TCP connections have segments of so many bytes at most as the parameter says, in both directions: each end tells the other so
 * when they connect (TCP_MAXSEG). Changed counts the sockets on which it was set. */
#include "sockets.h"
#include "wrap.h"
#include <netinet/tcp.h>

static int largest;

__attribute__((constructor)) static void begin(void)
{
	shim_begin("small-segments");
	if (shim_is_inert)
		return;
	for (const char *at = shim_parameter; *at >= '0' && *at <= '9' && largest < 65535; at++)
		largest = largest * 10 + (*at - '0');
}

static void make_small(int fd)
{
	if (!is_tcp(fd))
		return;
	SEEN();
	if (!shim_is_inert && largest && !setsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &largest, sizeof(largest)))
		CHANGED();
}

WRAP(int, connect, (int fd, const struct sockaddr *address, socklen_t length))
{
	NEXT(connect);
	int before = errno;
	make_small(fd);
	errno = before;
	return real(fd, address, length);
}

WRAP(int, listen, (int fd, int queue))
{
	NEXT(listen);
	int before = errno;
	make_small(fd);
	errno = before;
	return real(fd, queue);
}
