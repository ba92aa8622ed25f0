/* tls-context: what a program makes anew for each TLS connection is made once. For programs that use OpenSSL's libssl
 * (1.1.1 or 3) as clients. Its parameter, any of:
 *
 *   parse-ca-once      a file of trusted certificates is parsed the first time that it is loaded
 *   share-ssl-context  contexts that are made alike, call for call, are one context
 *   resume-sessions    a connection offers the session of the last one that was made alike, to the same server
 *
* It counts for the last of these in its parameter: seen are bundles loaded, contexts made, or handshakes begun by a
 * client; changed are bundles not parsed again, contexts not made, sessions offered. A context with a private key, with
 * data of the program or with callbacks that are more than observers is left alone, as are contexts of servers. What is
 * trusted stays the same: the same certificates, the same settings, no session of a server that was not verified so. */
#include "tls-bundle.h"
#include "tls-session.h"

static int contexts_are_counted;

__attribute__((constructor)) static void begin(void)
{
	shim_begin("tls-context");
	if (shim_is_inert)
		return;
	int parse = strstr(shim_parameter, "parse-ca-once") != 0;
	int share = strstr(shim_parameter, "share-ssl-context") != 0;
	int resume = strstr(shim_parameter, "resume-sessions") != 0;
	bundles_are_kept = parse;
	contexts_are_shared = share;
	sessions_are_kept = resume;
	recipes_are_kept = share || resume;
	bundles_are_counted = parse && !share && !resume;
	contexts_are_counted = share && !resume;
	tls_lock_across_forks();
}

/* A function that sets something: its parameters after the first, and of which kind each is. */
#define SETS_BY(implementation, name, target, taken, parameters, ...)        \
	EXPORT word name parameters                                          \
	{                                                                    \
		struct call call = { #name, implementation, target, taken, 0, { __VA_ARGS__ } }; \
		return step(&call, object);                                  \
	}
#define SETS(name, target, taken, parameters, ...)                           \
	static word run_##name(void *object, word a, word b, word c)         \
	{                                                                    \
		REAL(function_of_four *, #name);            \
		return real ? real(object, a, b, c) : 0;                     \
	}                                                                    \
	SETS_BY(run_##name, name, target, taken, parameters, __VA_ARGS__)
/* A function that gives a number and changes nothing. */
#define READS(name, target)                                                  \
	static word run_##name(void *object, word a, word b, word c)         \
	{                                                                    \
		REAL(function_of_one *, #name);                               \
		return real ? real(object) : 0;                              \
	}                                                                    \
	EXPORT word name(void *object)                                       \
	{                                                                    \
		struct call call = { #name, run_##name, target, ALWAYS, 1 }; \
		return step(&call, object);                                  \
	}
/* A function of which we know no more than what it is called on. Eight is the most that any of them takes. */
#define FIRST(name, before)                                                  \
	EXPORT word name(void *object, word a, word b, word c, word d, word e, word f, word g) \
	{                                                                    \
		REAL(function_of_eight *, #name);\
		before;                                                      \
		tls_inside++;                                                \
		word result = real ? real(object, a, b, c, d, e, f, g) : 0;  \
		tls_inside--;                                                \
		return result;                                               \
	}
#define LEAVES_ALONE(name, target) FIRST(name, leave_alone(object, target))
#define SETTLES(name, target) FIRST(name, settle(object, target))

#include "tls-functions.h"
#include "tls-controls.h"

/* Which methods' contexts are followed: those of clients and those of either end, over TCP. */
static int follows(const void *method)
{
	static const char *const names[] = { "TLS_client_method", "TLS_method", "TLSv1_2_client_method",
					     "TLSv1_2_method" };
	for (int i = 0; i < 4; i++) {
		function_of_none *known = (function_of_none *)shim_next(names[i]);
		if (known && known() == method)
			return 1;
	}
	return 0;
}

static void *make(void *library, const char *properties, const void *method, int extended)
{
	tls_inside++;
	void *context = extended ? library_SSL_CTX_new_ex(library, properties, method) : library_SSL_CTX_new(method);
	tls_inside--;
	return context;
}

static void *new_context(void *library, const char *properties, const void *method, int extended)
{
	if (tls_inside || !recipes_are_kept || !follows(method))
		return make(library, properties, method, extended);
	if (contexts_are_counted)
		SEEN();
	struct call call = { .name = "SSL_CTX_new",
			     .arguments = { NUMBER(method), NUMBER(library), TEXT(properties) } };
	tls_lock();
	struct node *root = recipe_after(&recipe_top, &call, 0);
	void *context = root && root->idle_count ? root->idle[--root->idle_count] : 0;
	if (!context)
		context = make(library, properties, method, extended);
	if (context && root)
		track_begin(context, root, 0);
	tls_unlock();
	return context;
}

EXPORT void *SSL_CTX_new(const void *method)
{
	return new_context(0, 0, method, 0);
}

EXPORT void *SSL_CTX_new_ex(void *library, const char *properties, const void *method)
{
	return new_context(library, properties, method, 1);
}

EXPORT int SSL_CTX_up_ref(void *context)
{
	if (!tls_inside && recipes_are_kept) {
		tls_lock();
		struct track *track = track_find(context, CONTEXT);
		if (track)
			track->references++;
		tls_unlock();
	}
	return library_SSL_CTX_up_ref(context);
}

/* The program gives a reference back. One that nothing was done to keeps its last one, to serve again. */
EXPORT void SSL_CTX_free(void *context)
{
	int keep = 0;
	if (!tls_inside && recipes_are_kept) {
		tls_lock();
		struct track *track = track_find(context, CONTEXT);
		if (track && track->references && --track->references == 0) {
			keep = track->state == UNTOUCHED || track->connections || track->lent;
			keep = track->kept = keep && !track->offered;
			if (keep)
				track_retire(track);
			else if (!track->offered)
				track_end(track);
		}
		tls_unlock();
	}
	if (!keep)
		context_release(context);
}

EXPORT int X509_STORE_up_ref(void *store)
{
	if (!tls_inside && recipes_are_kept) {
		tls_lock();
		struct track *track = track_find(store, STORE);
		if (track)
			track->lent++;
		tls_unlock();
	}
	return library_X509_STORE_up_ref(store);
}

/* The program has one reference less to a store. */
static void store_came_back(void *store)
{
	tls_lock();
	struct track *track = track_find(store, STORE);
	if (track && track->lent && --track->lent == 0 && track->kept)
		track_retire(track);
	tls_unlock();
}

EXPORT void X509_STORE_free(void *store)
{
	library_X509_STORE_free(store);
	if (!tls_inside && recipes_are_kept)
		store_came_back(store);
}

/* Takes over the reference to the store. */
EXPORT void SSL_CTX_set_cert_store(void *context, void *store)
{
	REAL(function_of_four *, "SSL_CTX_set_cert_store");
	int is_noted = 0;
	if (!tls_inside && recipes_are_kept) {
		tls_lock();
		struct track *track = track_find(context, CONTEXT), *giver = track_find(store, STORE);
		if (giver)
			track_settle(giver);
		if (track && !track_give_store(track, giver))
			track_end(track);
		else if (track)
			is_noted = track->state == UNTOUCHED;
		tls_unlock();
	}
	if (is_noted) {
		X509_STORE_free(store);
		return;
	}
	if (real)
		real(context, (word)store, 0, 0);
	if (!tls_inside && recipes_are_kept)
		store_came_back(store);
}

/* Whose context a connection is made with: that of the same recipe. */
static struct track *maker_for(struct track *track)
{
	struct node *node = track->node;
	if (!contexts_are_shared || track->has_anothers)
		return track;
	if (!node->maker && tracks_offered < MOST_OFFERED)
		track_offer(track);
	if (!node->maker || node->maker == track) {
		track_settle(track);
		return track;
	}
	node->maker->served = 1;
	if (!track->counted && contexts_are_counted)
		CHANGED();
	track->counted = 1;
	return node->maker;
}

EXPORT void *SSL_new(void *context)
{
	struct track *track = 0, *maker = 0;
	if (tls_inside || !recipes_are_kept)
		return library_SSL_new(context);
	tls_lock();
	track = track_find(context, CONTEXT);
	maker = track && track->references ? maker_for(track) : 0;
	tls_inside++;
	void *connection = library_SSL_new(maker ? maker->object : context);
	tls_inside--;
	struct track *made = connection && maker ? track_begin(connection, track->node, 1) : 0;
	if (made) {
		made->owner = track;
		made->borrowed = maker == track ? 0 : maker->store;
		track->connections++;
	}
	tls_unlock();
	return connection;
}

/* The store that a server's certificate is to be verified with. Where the connection was made with another's context,
 * that one's store serves only as long as the program has made its own the same; else the program's own is filled as the
 * program asked, and serves. Without this, certificates that only the other trusts would be trusted. */
static void *connection_store(void *store)
{
	struct track *connection = track_find(tls_connection, CONNECTION);
	struct track *maker = track_find(store, STORE);
	if (connection && connection->borrowed == store) {
		struct track *owner = connection->owner;
		if (maker && maker->offered && !owner->ended && maker->node == owner->node)
			return store;
		track_settle(owner);
		return library_SSL_CTX_get_cert_store(owner->object);
	}
	if (maker)
		track_settle(maker);
	/* Whose handshake this is cannot be known: better to trust nobody than too many. */
	if (!connection && maker && maker->offered && maker->offered != maker->node)
		return library_X509_STORE_new();
	return store;
}

EXPORT int X509_STORE_CTX_init(void *verification, void *store, void *certificate, void *chain)
{
	REAL(function_of_four *, "X509_STORE_CTX_init");
	if (!tls_inside && recipes_are_kept) {
		tls_lock();
		store = connection_store(store);
		tls_unlock();
	}
	return real ? real(verification, (word)store, (word)certificate, (word)chain) : 0;
}

/* Functions that may shake hands: whose handshake it is, is known to what they call. */
#define SHAKES_HANDS(name, before, after)                                    \
	EXPORT int name(void *object, word a, word b, word c)                \
	{                                                                    \
		REAL(function_of_four *, #name);                             \
		void *outer = tls_connection;                                \
		before;                                                      \
		tls_connection = object;                                     \
		int result = real ? real(object, a, b, c) : -1;              \
		tls_connection = outer;                                      \
		return after;                                                \
	}
SHAKES_HANDS(SSL_connect, session_offer(object), session_check(object, result))
SHAKES_HANDS(SSL_do_handshake, session_offer(object), session_check(object, result))
SHAKES_HANDS(SSL_shutdown, session_keep(object), result)
SHAKES_HANDS(SSL_read, , (session_keep_after(object, result), result))
SHAKES_HANDS(SSL_read_ex, , (session_keep_after(object, result), result))
SHAKES_HANDS(SSL_peek, , result)
SHAKES_HANDS(SSL_peek_ex, , result)
SHAKES_HANDS(SSL_write, , result)
SHAKES_HANDS(SSL_write_ex, , result)

EXPORT void SSL_free(void *connection)
{
	session_keep(connection);
	leave_alone(connection, CONNECTION);
	tls_inside++;
	library_SSL_free(connection);
	tls_inside--;
}
