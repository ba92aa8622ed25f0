/* Lets OpenSSL take the newest version of TLS that it knows: what a program sets against TLS 1.3 is accepted and not set.
 *
 * Changed counts settings left out. Programs set them as options (SSL_OP_NO_TLSv1_3), and by SSL_CTX_ctrl and SSL_ctrl, for which
 * OpenSSL's headers have other names (SSL_CTX_set_max_proto_version). */
#include "shim.h"
#include <stdint.h>

/* openssl/ssl.h: SSL_OP_NO_TLSv1_3, SSL_CTRL_SET_MAX_PROTO_VERSION, TLS1_3_VERSION. */
static const uint64_t NO_TLS_1_3 = 1u << 29;
enum { SET_MAX_VERSION = 124, TLS_1_3 = 0x0304 };

__attribute__((constructor)) static void begin(void)
{
	shim_begin("newest-tls");
}

static uint64_t allowed(uint64_t options)
{
	if (!(options & NO_TLS_1_3))
		return options;
	SEEN();
	if (shim_is_inert)
		return options;
	CHANGED();
	return options & ~NO_TLS_1_3;
}

/* 0 stands for the newest. */
static long newest(int command, long number)
{
	if (command != SET_MAX_VERSION || number == 0 || number >= TLS_1_3)
		return number;
	SEEN();
	if (shim_is_inert)
		return number;
	CHANGED();
	return 0;
}

EXPORT uint64_t SSL_CTX_set_options(void *context, uint64_t options)
{
	REAL(__typeof__(&SSL_CTX_set_options), "SSL_CTX_set_options");
	return real ? real(context, allowed(options)) : 0;
}

EXPORT uint64_t SSL_set_options(void *connection, uint64_t options)
{
	REAL(__typeof__(&SSL_set_options), "SSL_set_options");
	return real ? real(connection, allowed(options)) : 0;
}

EXPORT long SSL_CTX_ctrl(void *context, int command, long number, void *about)
{
	REAL(__typeof__(&SSL_CTX_ctrl), "SSL_CTX_ctrl");
	return real ? real(context, command, newest(command, number), about) : 0;
}

EXPORT long SSL_ctrl(void *connection, int command, long number, void *about)
{
	REAL(__typeof__(&SSL_ctrl), "SSL_ctrl");
	return real ? real(connection, command, newest(command, number), about) : 0;
}
