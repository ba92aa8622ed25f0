/* Holds what a program hands to OpenSSL in small pieces, until the thread waits for something or the pieces fill a record.
 *
 * SSL_write and SSL_write_ex are answered at once; an error of the late write comes with the next call on the connection.
 * Changed counts pieces that left together with one before them. Whatever else is done with the connection is done after
 * what it holds has been written. Not reached: TLS over memory (BIOs that are no socket), QUIC, other libraries, and what
 * a program writes through a BIO of its own. */
#include "own.h"
#include "sockets.h"
#include "tls-library.h"
#include <netinet/tcp.h>

/* A full record, and what of it is small: a longer piece carries its own costs. */
#define RECORD 16384
#define SMALL 4096
#define SLOTS 256
/* So long the program may have worked since the first piece before all that is held is written with the next. */
#define AGE_NS 5000000
#define MINE 8

enum wants { WANT_READ = 2, WANT_WRITE = 3 };

struct slot {
	void *owner;	  /* of the lock: a thread's mark, or 0 */
	void *connection; /* whose bytes these are */
	uint64_t since;	  /* when the first byte came */
	unsigned length;
	char bytes[RECORD];
};

static struct slot *slots;
THREAD_LOCAL struct slot *mine[MINE]; /* slots that this thread has put bytes into since it last waited */
THREAD_LOCAL int mine_count;

LIBRARY(int, SSL_write, (void *connection, const void *bytes, int size), (connection, bytes, size))
LIBRARY(int, SSL_write_ex, (void *connection, const void *bytes, size_t size, size_t *written),
	(connection, bytes, size, written))
LIBRARY(int, SSL_get_error, (void *connection, int result), (connection, result))
LIBRARY(int, SSL_get_wfd, (void *connection), (connection))
LIBRARY(int, SSL_version, (void *connection), (connection))
LIBRARY(word, ERR_clear_error, (void), ())

static uint64_t now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ull + time.tv_nsec;
}

static struct slot *slot_of(void *connection)
{
	return &slots[((uintptr_t)connection >> 4) % SLOTS];
}

/* Writes what is held once; the library's answer. The lock is held. */
static int write_held(struct slot *slot)
{
	tls_inside++;
	int written = library_SSL_write(slot->connection, slot->bytes, slot->length);
	tls_inside--;
	if (written > 0) {
		memmove(slot->bytes, slot->bytes + written, slot->length - written);
		slot->length -= written;
	}
	return written;
}

/* Has the kernel send what it holds of a socket's: a short segment at the end of a record that would not be there without us must not
 * wait for the peer to acknowledge the one before. */
static void push(int fd)
{
	int on = 1, is = 1;
	unsigned length = sizeof(is);
	if (!is_tcp(fd) || raw_call(SYS_getsockopt, fd, IPPROTO_TCP, TCP_NODELAY, (long)&is, (long)&length, 0) || is)
		return;
	raw_call(SYS_setsockopt, fd, IPPROTO_TCP, TCP_NODELAY, (long)&on, sizeof(on), 0);
	raw_call(SYS_setsockopt, fd, IPPROTO_TCP, TCP_NODELAY, (long)&is, sizeof(is), 0);
}

/* Writes all that is held: waits for room, for a second at most. What then remains is written with the next. */
static void write_all(struct slot *slot)
{
	int kept = errno;
	for (int tries = 0; slot->length && tries < 100; tries++) {
		int written = write_held(slot);
		if (written > 0)
			continue;
		int why = library_SSL_get_error(slot->connection, written);
		if (why != WANT_READ && why != WANT_WRITE) {
			slot->length = 0; /* the connection has failed, and says so to whoever uses it next */
			library_ERR_clear_error();
			break;
		}
		await_events(library_SSL_get_wfd(slot->connection), why == WANT_WRITE ? POLLOUT : POLLIN, 10);
	}
	push(library_SSL_get_wfd(slot->connection));
	errno = kept;
}

/* What this connection's pieces are kept in is written, if it is not another's. */
static void settle(void *connection)
{
	if (!slots || tls_inside || !connection)
		return;
	struct slot *slot = slot_of(connection);
	if (!__atomic_load_n(&slot->length, __ATOMIC_RELAXED) || !own_take(&slot->owner, &mine_count))
		return;
	if (slot->connection == connection)
		write_all(slot);
	own_release(&slot->owner);
}

static void settle_mine(void)
{
	if (tls_inside)
		return;
	for (int i = 0; i < mine_count; i++) {
		struct slot *slot = mine[i];
		if (slot->length && own_take(&slot->owner, &mine_count)) {
			write_all(slot);
			own_release(&slot->owner);
		}
	}
	mine_count = 0;
}

static inline void before_wait(void)
{
	if (mine_count)
		settle_mine();
}

/* A thread that waits for another may have handed its answer over: what it wrote goes out first. */
static inline void before_lock(void)
{
	before_wait();
}

static void before_leaving(void)
{
	for (int i = 0; slots && i < SLOTS; i++)
		if (slots[i].length)
			settle(slots[i].connection);
	mine_count = 0;
}

static inline int holds_something(void)
{
	return mine_count > 0;
}

#include "waits.h"

__attribute__((constructor)) static void begin(void)
{
	shim_begin("coalesce-tls-writes");
	if (!shim_is_inert)
		slots = own_memory(SLOTS * sizeof(struct slot));
}

__attribute__((destructor)) static void end(void)
{
	before_leaving();
}

/* Pieces. */

/* TLS 1.0 to 1.3 over a socket, after the handshake. */
static int can_be_held(void *connection)
{
	int version = library_SSL_version(connection);
	return version >= 0x0301 && version <= 0x0304 && library_SSL_is_init_finished(connection) &&
	       library_SSL_get_wfd(connection) >= 0;
}

static void remember(struct slot *slot)
{
	for (int i = 0; i < mine_count; i++)
		if (mine[i] == slot)
			return;
	if (mine_count == MINE)
		settle_mine();
	mine[mine_count++] = slot;
}

enum taken { HELD, PASS, FULL };

/* Keeps a piece. FULL: the library would not take what is held; `result` is its answer. The lock is held. */
static enum taken keep(struct slot *slot, void *connection, const void *bytes, size_t size, int *result)
{
	if (slot->connection != connection) {
		if (slot->length)
			return PASS; /* somebody else's; this connection has nothing held, and its order stands */
		slot->connection = connection;
	}
	int is_small = size && size <= SMALL && can_be_held(connection);
	int is_due = slot->length && (!is_small || slot->length + size > RECORD || now() - slot->since > AGE_NS);
	while (is_due && slot->length)
		if ((*result = write_held(slot)) <= 0)
			return FULL;
	if (!is_small)
		return PASS;
	SEEN();
	if (slot->length)
		CHANGED();
	else
		slot->since = now();
	memcpy(slot->bytes + slot->length, bytes, size);
	slot->length += size;
	return HELD;
}

static enum taken hold(void *connection, const void *bytes, size_t size, int *result)
{
	if (!slots || tls_inside)
		return PASS;
	struct slot *slot = slot_of(connection);
	if (!own_take(&slot->owner, &mine_count))
		return PASS;
	enum taken taken = keep(slot, connection, bytes, size, result);
	own_release(&slot->owner);
	if (taken == HELD)
		remember(slot);
	return taken;
}

EXPORT int SSL_write(void *connection, const void *bytes, int size)
{
	int result = -1;
	switch (size > 0 ? hold(connection, bytes, size, &result) : PASS) {
	case HELD:
		return size;
	case FULL:
		return result;
	default:
		return library_SSL_write(connection, bytes, size);
	}
}

EXPORT int SSL_write_ex(void *connection, const void *bytes, size_t size, size_t *written)
{
	int result = -1;
	switch (hold(connection, bytes, size, &result)) {
	case HELD:
		*written = size;
		return 1;
	case FULL:
		return 0;
	default:
		return library_SSL_write_ex(connection, bytes, size, written);
	}
}

/* What else is done with a connection. */

#define AFTER(name)                                                          \
	EXPORT word name(void *connection, word a, word b, word c, word d)   \
	{                                                                    \
		REAL(function_of_eight *, #name);                            \
		settle(connection);                                          \
		return real ? real(connection, a, b, c, d, 0, 0, 0) : 0;     \
	}

AFTER(SSL_read)
AFTER(SSL_read_ex)
AFTER(SSL_peek)
AFTER(SSL_peek_ex)
AFTER(SSL_pending)
AFTER(SSL_has_pending)
AFTER(SSL_write_ex2)
AFTER(SSL_write_early_data)
AFTER(SSL_sendfile)
AFTER(SSL_shutdown)
AFTER(SSL_clear)
AFTER(SSL_key_update)
AFTER(SSL_renegotiate)
AFTER(SSL_renegotiate_abbreviated)
AFTER(SSL_verify_client_post_handshake)
AFTER(SSL_set_bio)
AFTER(SSL_set0_wbio)
AFTER(SSL_set_fd)
AFTER(SSL_set_wfd)
AFTER(SSL_set_quiet_shutdown)

/* What could not be written by now never will be: the next connection may stand at the same address. */
EXPORT void SSL_free(void *connection)
{
	settle(connection);
	if (slots && connection && slot_of(connection)->connection == connection)
		slot_of(connection)->length = 0;
	library_SSL_free(connection);
}

/* Reads of other things than a file: the thread is about to wait. */

#define READS(name, parameters, arguments)                         \
	WRAP(ssize_t, name, parameters)                            \
	{                                                          \
		NEXT(name);                                        \
		if (mine_count && !tls_inside && !is_file(fd))     \
			settle_mine();                             \
		return real arguments;                             \
	}

READS(read, (int fd, void *bytes, size_t size), (fd, bytes, size))
READS(readv, (int fd, const struct iovec *parts, int count), (fd, parts, count))
READS(recv, (int fd, void *bytes, size_t size, int flags), (fd, bytes, size, flags))
READS(recvfrom, (int fd, void *bytes, size_t size, int flags, struct sockaddr *from, socklen_t *length),
      (fd, bytes, size, flags, from, length))
READS(recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags))

/* What would keep the bytes from their peer, or tell it something before them. */

WAITS(int, shutdown, (int fd, int how), (fd, how))
WAITS(int, close, (int fd), (fd))
