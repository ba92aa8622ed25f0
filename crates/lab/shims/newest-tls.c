/* Lets OpenSSL take the newest version of TLS that it knows: what a program sets against TLS 1.3 is accepted and not set.
 *
 * Changed counts settings left out. Programs set them as options (SSL_OP_NO_TLSv1_3), and by SSL_CTX_ctrl and SSL_ctrl, for which
 * OpenSSL's headers have other names (SSL_CTX_set_max_proto_version). */
/* openssl/ssl.h: SSL_OP_NO_TLSv1_3. */
#define LEFT_OUT (1ULL << 29)
#include "tls-options.h"

/* SSL_CTRL_SET_MAX_PROTO_VERSION, TLS1_3_VERSION. */
enum { SET_MAX_VERSION = 124, TLS_1_3 = 0x0304 };

__attribute__((constructor)) static void begin(void)
{
	shim_begin("newest-tls");
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
