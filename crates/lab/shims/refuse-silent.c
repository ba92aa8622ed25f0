/* Lets connect fail at once (network unreachable) for the addresses its parameter names, ADDRESS/PORT each, separated by
 * blanks, as a host without a route to them does. Changed counts the connects that failed so. */
#include "named.h"

__attribute__((constructor)) static void begin(void)
{
	shim_begin("refuse-silent");
}

WRAP(int, connect, (int fd, const struct sockaddr *to, socklen_t length))
{
	NEXT(connect);
	SEEN();
	if (shim_is_inert || !is_named(to, length))
		return real(fd, to, length);
	CHANGED();
	errno = ENETUNREACH;
	return -1;
}
