/* Answers that no byte waits in a socket's send queue: ioctl SIOCOUTQ (TIOCOUTQ) and SIOCOUTQNSD. Changed counts answers
 * that would have been another number. Terminals, which know TIOCOUTQ too, are left alone. */
#include "sockets.h"
#include "wrap.h"
#include <linux/sockios.h>
#include <sys/ioctl.h>

__attribute__((constructor)) static void begin(void)
{
	shim_begin("send-queue-empty");
}

static int answer(int fd, unsigned long request, int *queued, int result)
{
	if (result || !queued || (request != SIOCOUTQ && request != SIOCOUTQNSD) || !is_stream(fd))
		return result;
	SEEN();
	if (!shim_is_inert && *queued) {
		*queued = 0;
		CHANGED();
	}
	return result;
}

WRAP(int, ioctl, (int fd, unsigned long request, void *argument))
{
	NEXT(ioctl);
	return answer(fd, request, argument, real(fd, request, argument));
}

/* What ioctl is called by programs with a 64-bit time on 32-bit machines. */
WRAP(int, __ioctl_time64, (int fd, unsigned long request, void *argument))
{
	NEXT(__ioctl_time64);
	return answer(fd, request, argument, real(fd, request, argument));
}
