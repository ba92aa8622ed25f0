/* Addresses that a shim's parameter names: ADDRESS/PORT each, separated by blanks. */
#pragma once
#include "wrap.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

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
