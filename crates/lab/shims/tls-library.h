/* The TLS library as the shim calls it, one lock, and what a thread is doing. Works with OpenSSL 1.1.1 and 3. */
#pragma once
#include "shim.h"
#include <pthread.h>

/* What every function of the library takes and gives, in a register: a pointer or a number. */
typedef long word;
typedef const void *function_of_none(void);
typedef word function_of_one(void *);
typedef word function_of_four(void *, word, word, word);
typedef word function_of_eight(void *, word, word, word, word, word, word, word);

/* The library's own function, as `library_NAME`; gives 0 where the library has none of that name. */
#define LIBRARY(type, name, parameters, arguments)                           \
	static inline type library_##name parameters                         \
	{                                                                    \
		typedef type function parameters;                            \
		REAL(function *, #name);                                     \
		return real ? real arguments : (type)0;                      \
	}

LIBRARY(void *, SSL_CTX_new, (const void *method), (method))
LIBRARY(void *, SSL_CTX_new_ex, (void *library, const char *properties, const void *method),
	(library, properties, method))
LIBRARY(int, SSL_CTX_up_ref, (void *context), (context))
LIBRARY(word, SSL_CTX_free, (void *context), (context))
LIBRARY(void *, SSL_CTX_get_cert_store, (void *context), (context))
LIBRARY(void *, SSL_CTX_get0_param, (void *context), (context))
LIBRARY(void *, SSL_get0_param, (void *connection), (connection))
LIBRARY(void *, SSL_new, (void *context), (context))
LIBRARY(word, SSL_free, (void *connection), (connection))
LIBRARY(int, SSL_is_server, (void *connection), (connection))
LIBRARY(int, SSL_in_before, (void *connection), (connection))
LIBRARY(int, SSL_is_init_finished, (void *connection), (connection))
LIBRARY(int, SSL_get_fd, (void *connection), (connection))
LIBRARY(int, SSL_get_verify_mode, (void *connection), (connection))
LIBRARY(word, SSL_get_verify_result, (void *connection), (connection))
LIBRARY(void *, SSL_get_session, (void *connection), (connection))
LIBRARY(int, SSL_session_reused, (void *connection), (connection))
LIBRARY(int, SSL_set_session, (void *connection, void *session), (connection, session))
LIBRARY(int, SSL_SESSION_is_resumable, (void *session), (session))
LIBRARY(void *, SSL_SESSION_dup, (void *session), (session))
LIBRARY(word, SSL_SESSION_free, (void *session), (session))
LIBRARY(int, SSL_CTX_load_verify_locations, (void *context, const char *file, const char *folder),
	(context, file, folder))
LIBRARY(int, SSL_CTX_load_verify_file, (void *context, const char *file), (context, file))
LIBRARY(int, SSL_CTX_set_default_verify_paths, (void *context), (context))
LIBRARY(void *, X509_STORE_new, (void), ())
LIBRARY(int, X509_STORE_up_ref, (void *store), (store))
LIBRARY(word, X509_STORE_free, (void *store), (store))
LIBRARY(int, X509_STORE_load_file, (void *store, const char *file), (store, file))
LIBRARY(int, X509_STORE_load_locations, (void *store, const char *file, const char *folder), (store, file, folder))
LIBRARY(int, X509_STORE_set_default_paths, (void *store), (store))
LIBRARY(void *, X509_STORE_add_lookup, (void *store, void *method), (store, method))
LIBRARY(void *, X509_STORE_get0_objects, (void *store), (store))
LIBRARY(int, X509_STORE_add_cert, (void *store, void *certificate), (store, certificate))
LIBRARY(int, X509_STORE_add_crl, (void *store, void *list), (store, list))
LIBRARY(void *, X509_LOOKUP_hash_dir, (void), ())
LIBRARY(void *, X509_LOOKUP_store, (void), ())
LIBRARY(int, X509_LOOKUP_ctrl, (void *lookup, int command, const char *text, word number, char **result),
	(lookup, command, text, number, result))
LIBRARY(void *, X509_OBJECT_get0_X509, (void *object), (object))
LIBRARY(void *, X509_OBJECT_get0_X509_CRL, (void *object), (object))
LIBRARY(const char *, X509_get_default_cert_file, (void), ())
LIBRARY(const char *, X509_get_default_cert_file_env, (void), ())
LIBRARY(const char *, X509_get_default_cert_dir_env, (void), ())
LIBRARY(int, OPENSSL_sk_num, (const void *stack), (stack))
LIBRARY(void *, OPENSSL_sk_value, (const void *stack, int index), (stack, index))

/* Above 0 while this thread is inside the library on our behalf: the library calls itself through the same names, and
 * those calls are its own affair. Initial-exec: a shim is there from the start, and the first use allocates nothing. */
static __thread int tls_inside __attribute__((tls_model("initial-exec")));
static __thread int tls_holding __attribute__((tls_model("initial-exec")));
/* The connection whose function this thread is in. */
static __thread void *tls_connection __attribute__((tls_model("initial-exec")));
static pthread_mutex_t tls_mutex = PTHREAD_MUTEX_INITIALIZER;

/* May be taken again by the thread that holds it. */
static inline void tls_lock(void)
{
	if (tls_holding++ == 0)
		pthread_mutex_lock(&tls_mutex);
}

static inline void tls_unlock(void)
{
	if (--tls_holding == 0)
		pthread_mutex_unlock(&tls_mutex);
}

/* A process that forks while another thread holds the lock would leave its child with a lock that nobody opens. glibc
 * keeps pthread_atfork itself in a static part; this is what it calls. */
extern int __register_atfork(void (*)(void), void (*)(void), void (*)(void), void *) __attribute__((weak));

static inline void tls_lock_across_forks(void)
{
	if (__register_atfork)
		__register_atfork(tls_lock, tls_unlock, tls_unlock, 0);
}
