/* Leaves the buffers of TCP sockets to the kernel: setting their size does nothing. Changed counts the options that were left
 * out. */
#include "sockets.h"
#include "wrap.h"

__attribute__((constructor)) static void begin(void)
{
	shim_begin("default-buffers");
}

WRAP(int, setsockopt, (int fd, int level, int name, const void *value, socklen_t length))
{
	NEXT(setsockopt);
	int is_size = name == SO_SNDBUF || name == SO_RCVBUF || name == SO_SNDBUFFORCE || name == SO_RCVBUFFORCE;
	if (level != SOL_SOCKET || !is_size || !is_tcp(fd))
		return real(fd, level, name, value, length);
	SEEN();
	if (shim_is_inert)
		return real(fd, level, name, value, length);
	CHANGED();
	return 0;
}
