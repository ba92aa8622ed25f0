/* Leaves the groups for TLS key agreement to the library: what a program sets is accepted and not set.
 *
 * Changed counts settings left out. Programs set them by SSL_CTX_ctrl and SSL_ctrl, for which OpenSSL's headers have other names
 * (SSL_CTX_set1_groups_list, SSL_CTX_set1_curves_list, SSL_CTX_set1_groups). */
#include "shim.h"

/* openssl/ssl.h: SSL_CTRL_SET_GROUPS, SSL_CTRL_SET_GROUPS_LIST. */
enum { SET_GROUPS = 91, SET_GROUPS_LIST = 92 };

__attribute__((constructor)) static void begin(void)
{
	shim_begin("default-groups");
}

static int leaves_out(int command)
{
	if (command != SET_GROUPS && command != SET_GROUPS_LIST)
		return 0;
	SEEN();
	if (shim_is_inert)
		return 0;
	CHANGED();
	return 1;
}

EXPORT long SSL_CTX_ctrl(void *context, int command, long number, void *about)
{
	REAL(__typeof__(&SSL_CTX_ctrl), "SSL_CTX_ctrl");
	if (leaves_out(command))
		return 1;
	return real ? real(context, command, number, about) : 0;
}

EXPORT long SSL_ctrl(void *connection, int command, long number, void *about)
{
	REAL(__typeof__(&SSL_ctrl), "SSL_ctrl");
	if (leaves_out(command))
		return 1;
	return real ? real(connection, command, number, about) : 0;
}
