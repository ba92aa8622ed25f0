/* Both ways in which a program sets options of OpenSSL's, without the one that a shim leaves out: LEFT_OUT, defined before. */
#pragma once
#include "shim.h"

static uint64_t allowed(uint64_t options)
{
	if (!(options & LEFT_OUT))
		return options;
	SEEN();
	if (shim_is_inert)
		return options;
	CHANGED();
	return options & ~LEFT_OUT;
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
