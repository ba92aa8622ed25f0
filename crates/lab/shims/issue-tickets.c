/* Lets a server of OpenSSL's give session tickets that each of its processes and hosts takes: what a program sets against tickets is
 * accepted and not set, and in place of keys of its own it has those of the parameter: `on`, and 80 bytes in hexadecimal.
 *
 * Changed counts settings left out, and connections accepted with those keys: clients' contexts have them as well, which changes
 * nothing. Programs set them as options (SSL_OP_NO_TICKET), as a number, by SSL_CTX_ctrl and SSL_CTX_callback_ctrl, for which OpenSSL's
 * headers have other names, or not at all. */

/* openssl/ssl.h: SSL_OP_NO_TICKET. */
#define LEFT_OUT (1ULL << 14)
#include "tls-options.h"

/* SSL_CTRL_SET_TLSEXT_TICKET_KEYS, SSL_CTRL_SET_TLSEXT_TICKET_KEY_CB; how many tickets there are unless a program says so; and as long
 * as OpenSSL's keys are since 1.1.0: a name of 16 bytes and two keys of 32. */
enum { SET_KEYS = 59, SET_KEY_CALLBACK = 72, USUAL_TICKETS = 2, KEYS = 80 };

static unsigned char keys[KEYS];
static int has_keys;

static int digit(char letter)
{
	if (letter >= '0' && letter <= '9')
		return letter - '0';
	return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

__attribute__((constructor)) static void begin(void)
{
	shim_begin("issue-tickets");
	const char *text = strchr(shim_parameter, ' ');
	if (shim_is_inert || !text || strlen(text + 1) != 2 * KEYS)
		return;
	has_keys = 1;
	for (int i = 0; i < KEYS; i++) {
		int high = digit(text[1 + 2 * i]), low = digit(text[2 + 2 * i]);
		has_keys = has_keys && high >= 0 && low >= 0;
		keys[i] = high << 4 | low;
	}
}

static size_t tickets(size_t number)
{
	if (number)
		return number;
	SEEN();
	if (shim_is_inert)
		return number;
	CHANGED();
	return USUAL_TICKETS;
}

/* Whether a program's keys, or its way to choose some, are not wanted. */
static int has_others(void)
{
	SEEN();
	if (!has_keys)
		return 0;
	CHANGED();
	return 1;
}

typedef long control_of_context(void *, int, long, void *);

static void *with_keys(void *context)
{
	REAL(control_of_context *, "SSL_CTX_ctrl");
	SEEN();
	if (context && has_keys && real)
		real(context, SET_KEYS, KEYS, keys);
	return context;
}

EXPORT void *SSL_CTX_new(const void *method)
{
	REAL(__typeof__(&SSL_CTX_new), "SSL_CTX_new");
	return real ? with_keys(real(method)) : 0;
}

EXPORT void *SSL_CTX_new_ex(void *library, const char *properties, const void *method)
{
	REAL(__typeof__(&SSL_CTX_new_ex), "SSL_CTX_new_ex");
	return real ? with_keys(real(library, properties, method)) : 0;
}

/* A server's end begins. */
static void accepted(void)
{
	SEEN();
	if (has_keys)
		CHANGED();
}

EXPORT void SSL_set_accept_state(void *connection)
{
	REAL(__typeof__(&SSL_set_accept_state), "SSL_set_accept_state");
	accepted();
	if (real)
		real(connection);
}

EXPORT int SSL_accept(void *connection)
{
	REAL(__typeof__(&SSL_accept), "SSL_accept");
	accepted();
	return real ? real(connection) : -1;
}

EXPORT int SSL_CTX_set_num_tickets(void *context, size_t number)
{
	REAL(__typeof__(&SSL_CTX_set_num_tickets), "SSL_CTX_set_num_tickets");
	return real ? real(context, tickets(number)) : 0;
}

EXPORT int SSL_set_num_tickets(void *connection, size_t number)
{
	REAL(__typeof__(&SSL_set_num_tickets), "SSL_set_num_tickets");
	return real ? real(connection, tickets(number)) : 0;
}

EXPORT long SSL_CTX_ctrl(void *context, int command, long number, void *about)
{
	REAL(__typeof__(&SSL_CTX_ctrl), "SSL_CTX_ctrl");
	if (command == SET_KEYS && about && number == KEYS && has_others())
		about = keys;
	return real ? real(context, command, number, about) : 0;
}

EXPORT long SSL_CTX_callback_ctrl(void *context, int command, void (*callback)(void))
{
	REAL(__typeof__(&SSL_CTX_callback_ctrl), "SSL_CTX_callback_ctrl");
	if (command == SET_KEY_CALLBACK && has_others())
		return 1;
	return real ? real(context, command, callback) : 0;
}

EXPORT int SSL_CTX_set_tlsext_ticket_key_evp_cb(void *context, void *callback)
{
	REAL(__typeof__(&SSL_CTX_set_tlsext_ticket_key_evp_cb), "SSL_CTX_set_tlsext_ticket_key_evp_cb");
	if (has_others())
		return 1;
	return real ? real(context, callback) : 0;
}
