/* Lets connect fail at once (network unreachable) for the addresses its parameter names, ADDRESS/PORT each, separated by
 * blanks, as a host without a route to them does. Changed counts the connects that failed so. */
#include "wrap.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

__attribute__((constructor)) static void begin(void)
{
	shim_begin("refuse-silent");
}

/* Whether the parameter names it. */
static int is_named(const struct sockaddr *to, socklen_t length)
{
	char text[INET6_ADDRSTRLEN + 8];
	uint16_t port;
	if (to && to->sa_family == AF_INET && length >= sizeof(struct sockaddr_in)) {
		const struct sockaddr_in *four = (const struct sockaddr_in *)to;
		if (!inet_ntop(AF_INET, &four->sin_addr, text, INET6_ADDRSTRLEN))
			return 0;
		port = ntohs(four->sin_port);
	} else if (to && to->sa_family == AF_INET6 && length >= sizeof(struct sockaddr_in6)) {
		const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)to;
		if (!inet_ntop(AF_INET6, &six->sin6_addr, text, INET6_ADDRSTRLEN))
			return 0;
		port = ntohs(six->sin6_port);
	} else {
		return 0;
	}
	size_t at = strlen(text), digits = 1;
	text[at++] = '/';
	for (unsigned rest = port; rest >= 10; rest /= 10)
		digits++;
	for (size_t digit = digits; digit-- > 0; port /= 10)
		text[at + digit] = '0' + port % 10;
	at += digits;
	for (const char *word = shim_parameter; *word;) {
		const char *end = word;
		while (*end && *end != ' ')
			end++;
		if ((size_t)(end - word) == at && !memcmp(word, text, at))
			return 1;
		word = *end ? end + 1 : end;
	}
	return 0;
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
