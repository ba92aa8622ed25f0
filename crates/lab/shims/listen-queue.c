/* Gives every listening socket a queue as long as its parameter at least, or as long as the kernel allows
 * (net.core.somaxconn): listen asks for no less. Changed counts sockets that had asked for less. */
#include "sockets.h"
#include "wrap.h"

static int length;

__attribute__((constructor)) static void begin(void)
{
	shim_begin("listen-queue");
	if (shim_is_inert)
		return;
	for (const char *at = shim_parameter; *at >= '0' && *at <= '9' && length < 1000000; at++)
		length = length * 10 + (*at - '0');
}

WRAP(int, listen, (int fd, int queue))
{
	NEXT(listen);
	SEEN();
	if (queue >= length)
		return real(fd, queue);
	CHANGED();
	return real(fd, length);
}
