/* Keeps a TCP connection that the program opened and closes, and gives it back when the same process connects to the same address.
 *
 * Only where it is established, has nothing to read, and its peer has not closed it. Changed counts connects that were spared. A
 * child of a fork has none of its parent's. */
#include "sockets.h"
#include "wrap.h"
#include <linux/tcp.h>

#define MOST 65536
#define KEPT 16

/* The sockets that were connected here, by descriptor, each by the number that no other one gets. */
static uint64_t opened[MOST];

struct kept {
	int fd, process;
	unsigned length;
	struct sockaddr_storage peer;
};
static struct kept kept[KEPT];
static int is_taken;

__attribute__((constructor)) static void begin(void)
{
	shim_begin("kept-connections");
}

static void take(void)
{
	while (__atomic_exchange_n(&is_taken, 1, __ATOMIC_ACQUIRE))
		;
}

static void give(void)
{
	__atomic_store_n(&is_taken, 0, __ATOMIC_RELEASE);
}

/* Whether both ends are open and nothing has come that nobody read. */
static int is_fit(int fd)
{
	struct tcp_info about = { 0 };
	unsigned length = sizeof(about);
	char byte;
	if (raw_call(SYS_getsockopt, fd, IPPROTO_TCP, TCP_INFO, (long)&about, (long)&length, 0) || about.tcpi_state != 1)
		return 0;
	return raw_call(SYS_recvfrom, fd, (long)&byte, 1, MSG_PEEK | MSG_DONTWAIT, 0, 0) == -EAGAIN;
}

/* Whether what was sent last is older than what came last, so far as milliseconds tell: nothing is to come any more. */
static int is_answered(int fd)
{
	struct tcp_info about = { 0 };
	unsigned length = sizeof(about);
	return !raw_call(SYS_getsockopt, fd, IPPROTO_TCP, TCP_INFO, (long)&about, (long)&length, 0) && about.tcpi_bytes_received &&
	       about.tcpi_last_data_recv <= about.tcpi_last_data_sent;
}

/* Puts a connection by under another descriptor; the program's own is closed as it wished. Whether there was room for it. */
static int keep(int fd)
{
	int is_kept = 0;
	struct kept one = { .process = raw_call(SYS_getpid, 0, 0, 0, 0, 0, 0), .length = sizeof(one.peer) };
	if (!is_fit(fd) || raw_call(SYS_getpeername, fd, (long)&one.peer, (long)&one.length, 0, 0, 0))
		return 0;
	take();
	for (int i = 0; i < KEPT; i++)
		if (!kept[i].length || kept[i].process != one.process) {
			if (kept[i].length)
				raw_call(SYS_close, kept[i].fd, 0, 0, 0, 0, 0);
			kept[i].length = 0;
			one.fd = raw_call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, MOST, 0, 0, 0);
			if (one.fd < 0)
				one.fd = raw_call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 512, 0, 0, 0);
			is_kept = one.fd >= 0;
			if (is_kept)
				kept[i] = one;
			break;
		}
	give();
	return is_kept;
}

/* A connection to this address that is still fit, and not the shim's any more; or -1. */
static int kept_to(const struct sockaddr *to, unsigned length)
{
	int process = raw_call(SYS_getpid, 0, 0, 0, 0, 0, 0), found = -1;
	take();
	for (int i = 0; i < KEPT && found < 0; i++)
		if (kept[i].length && kept[i].process == process && kept[i].length == length &&
		    !memcmp(&kept[i].peer, to, length)) {
			if (is_fit(kept[i].fd))
				found = kept[i].fd;
			else
				raw_call(SYS_close, kept[i].fd, 0, 0, 0, 0, 0);
			kept[i].length = 0;
		}
	give();
	return found;
}

WRAP(int, connect, (int fd, const struct sockaddr *to, socklen_t length))
{
	NEXT(connect);
	int was = errno;
	if (fd < 0 || fd >= MOST || !to || !is_tcp(fd) || is_connected(fd)) {
		errno = was;
		return real(fd, to, length);
	}
	SEEN();
	int other = shim_is_inert ? -1 : kept_to(to, length);
	if (other >= 0) {
		long mode = raw_call(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0);
		long at_exec = raw_call(SYS_fcntl, fd, F_GETFD, 0, 0, 0, 0);
		long given = raw_call(SYS_dup3, other, fd, at_exec & FD_CLOEXEC ? O_CLOEXEC : 0, 0, 0, 0);
		raw_call(SYS_close, other, 0, 0, 0, 0, 0);
		if (given == fd) {
			raw_call(SYS_fcntl, fd, F_SETFL, mode, 0, 0, 0);
			opened[fd] = cookie_of(fd);
			CHANGED();
			errno = was;
			return 0;
		}
	}
	errno = was;
	int result = real(fd, to, length);
	was = errno;
	opened[fd] = !result || was == EINPROGRESS ? cookie_of(fd) : 0;
	errno = was;
	return result;
}

/* Some runtimes say that they write no more before they close (Java's sockets). The peer would take that for the end, so it is not
 * told: the program gets the end that the peer's answer to that would have been, from a socket whose other end is closed. */
WRAP(int, shutdown, (int fd, int how))
{
	NEXT(shutdown);
	int pair[2], was = errno;
	if (fd < 0 || fd >= MOST || !opened[fd] || shim_is_inert || how == SHUT_RD || opened[fd] != cookie_of(fd) ||
	    !is_answered(fd) || raw_call(SYS_socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, (long)pair, 0, 0)) {
		errno = was;
		return real(fd, how);
	}
	long mode = raw_call(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0);
	long at_exec = raw_call(SYS_fcntl, fd, F_GETFD, 0, 0, 0, 0);
	raw_call(SYS_close, pair[1], 0, 0, 0, 0, 0);
	int is_kept = keep(fd);
	if (is_kept) {
		opened[fd] = 0;
		raw_call(SYS_dup3, pair[0], fd, at_exec & FD_CLOEXEC ? O_CLOEXEC : 0, 0, 0, 0);
		raw_call(SYS_fcntl, fd, F_SETFL, mode, 0, 0, 0);
	}
	raw_call(SYS_close, pair[0], 0, 0, 0, 0, 0);
	errno = was;
	return is_kept ? 0 : real(fd, how);
}

WRAP(int, close, (int fd))
{
	NEXT(close);
	if (fd < 0 || fd >= MOST || !opened[fd])
		return real(fd);
	uint64_t cookie = opened[fd];
	opened[fd] = 0;
	if (!shim_is_inert && cookie == cookie_of(fd))
		keep(fd);
	return real(fd);
}
