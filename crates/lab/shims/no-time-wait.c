/* Ends connections that the program opened so that their ports are free at once: by a reset, which leaves nothing in TIME_WAIT.
 * Only where all that was sent has been acknowledged, and the other end has not closed first. Changed counts the connections that
 * ended so. */
#include "sockets.h"
#include "wrap.h"
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <sys/ioctl.h>

/* The sockets that were connected here, by descriptor, each by the number that no other one gets. */
#define MOST 65536
static uint64_t opened[MOST];

__attribute__((constructor)) static void begin(void)
{
	shim_begin("no-time-wait");
}

WRAP(int, connect, (int fd, const struct sockaddr *to, socklen_t length))
{
	NEXT(connect);
	int result = real(fd, to, length);
	int was = errno;
	if (fd >= 0 && fd < MOST && (!result || was == EINPROGRESS) && is_tcp(fd))
		opened[fd] = cookie_of(fd);
	errno = was;
	return result;
}

/* Whether this end would keep the port, and has nothing on its way to the other. */
static int would_wait(int fd)
{
	struct tcp_info about = { 0 };
	unsigned length = sizeof(about);
	int unacknowledged = 0;
	if (raw_call(SYS_getsockopt, fd, IPPROTO_TCP, TCP_INFO, (long)&about, (long)&length, 0))
		return 0;
	if (about.tcpi_state != 1 && about.tcpi_state != 5) /* established, or closed by this end alone (FIN_WAIT2) */
		return 0;
	return !raw_call(SYS_ioctl, fd, SIOCOUTQ, (long)&unacknowledged, 0, 0, 0) && !unacknowledged;
}

WRAP(int, close, (int fd))
{
	NEXT(close);
	if (fd < 0 || fd >= MOST || !opened[fd])
		return real(fd);
	uint64_t cookie = opened[fd];
	opened[fd] = 0;
	SEEN();
	if (!shim_is_inert && cookie == cookie_of(fd) && would_wait(fd)) {
		struct linger at_once = { 1, 0 };
		CHANGED();
		raw_call(SYS_setsockopt, fd, SOL_SOCKET, SO_LINGER, (long)&at_once, sizeof(at_once), 0);
	}
	return real(fd);
}
