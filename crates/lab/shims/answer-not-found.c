/* Answers whoever connects to the addresses its parameter names, ADDRESS/PORT each, separated by blanks, at once and by itself: in
 * HTTP, that what is asked for is not there. Nothing leaves the machine.
 *
 * The program's descriptor becomes one end of a pair of sockets, in whose other end the answer lies ready; what the program sends
 * is taken and never read. Changed counts the connects answered so. The other ends stay open for as long as the process does. */
#include "named.h"
#include "sockets.h"

static const char answer[] = "HTTP/1.0 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

__attribute__((constructor)) static void begin(void)
{
	shim_begin("answer-not-found");
}

/* Puts an answered socket in the place of the descriptor; 0 where that cannot be done. */
static int answers(int fd)
{
	int pair[2], is_done = 0;
	long flags = raw_call(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0), of_descriptor = raw_call(SYS_fcntl, fd, F_GETFD, 0, 0, 0, 0);
	if (flags < 0 || raw_call(SYS_socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, (long)pair, 0, 0))
		return 0;
	long size = sizeof(answer) - 1;
	if (raw_call(SYS_write, pair[1], (long)answer, size, 0, 0, 0) == size &&
	    !raw_call(SYS_shutdown, pair[1], SHUT_WR, 0, 0, 0, 0) &&
	    raw_call(SYS_dup3, pair[0], fd, of_descriptor & FD_CLOEXEC ? O_CLOEXEC : 0, 0, 0, 0) == fd)
		is_done = !raw_call(SYS_fcntl, fd, F_SETFL, flags, 0, 0, 0);
	raw_call(SYS_close, pair[0], 0, 0, 0, 0, 0);
	if (!is_done)
		raw_call(SYS_close, pair[1], 0, 0, 0, 0, 0);
	return is_done;
}

WRAP(int, connect, (int fd, const struct sockaddr *to, socklen_t length))
{
	NEXT(connect);
	SEEN();
	if (shim_is_inert || !is_named(to, length) || !answers(fd))
		return real(fd, to, length);
	CHANGED();
	return 0;
}

/* Options of TCP, which a pair of sockets does not have: taken, as by the connection that it stands for. */
WRAP(int, setsockopt, (int fd, int level, int option, const void *value, socklen_t length))
{
	NEXT(setsockopt);
	int result = real(fd, level, option, value, length);
	int is_refused = result && errno == EOPNOTSUPP && level == IPPROTO_TCP;
	return is_refused && !shim_is_inert && option_of(fd, SO_DOMAIN) == AF_UNIX ? 0 : result;
}
