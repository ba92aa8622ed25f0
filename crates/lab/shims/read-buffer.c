/* Serves tiny reads from TCP sockets out of one larger look at what has arrived.
 *
 * The look leaves the bytes in the kernel (MSG_PEEK); those that the program has had are thrown away there when the
 * look is used up, and before anybody else could see them: larger reads, questions, hand-overs, a close. So polls tell
 * the truth by themselves, and no byte can be lost with a process. A read is served only if all that it asks for is
 * there: reads stay as long as they were.
 *
 * Only sockets that this process made or accepted since it last forked: others may be read by somebody else. Not
 * reached: reads that libc makes within itself (stdio), io_uring, and larger reads, which are left alone. Changed counts
 * reads that were served without a call. */
#include "sockets.h"
#include "wrap.h"
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/uio.h>

/* A read that asks for more is no tiny read. */
#define TINY 1024
#define LOOK 16384
#define SLOTS 512
#define DESCRIPTORS 65536
#define NOT_OURS (~0ull)

struct slot {
	void *owner;
	uint64_t cookie;
	int fd;
	unsigned used, filled;
	char bytes[LOOK];
};

struct looks {
	int begun; /* slots of which the program has had bytes that the kernel still has */
	uint64_t cookies[DESCRIPTORS];
	char is_own[DESCRIPTORS]; /* made since the last fork */
	struct slot slots[SLOTS];
};

static struct looks *looks;
static __thread __attribute__((tls_model("initial-exec"))) char this_thread;

__attribute__((constructor)) static void begin(void)
{
	shim_begin("read-buffer");
	if (shim_is_inert)
		return;
	void *memory = mmap(0, sizeof(struct looks), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	/* 18 = MADV_WIPEONFORK (Linux 4.14): a child knows nothing of its parent's looks. */
	if (memory != MAP_FAILED && !madvise(memory, sizeof(struct looks), 18))
		looks = memory;
}

static int take(struct slot *slot)
{
	for (int tries = 0; tries < 100000; tries++) {
		void *owner = 0;
		if (__atomic_compare_exchange_n(&slot->owner, &owner, &this_thread, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return 1;
		if (owner == &this_thread)
			return 0;
		if (tries > 100)
			raw_call(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
	}
	return 0;
}

static void release(struct slot *slot)
{
	__atomic_store_n(&slot->owner, 0, __ATOMIC_RELEASE);
}

static struct slot *slot_of(uint64_t cookie)
{
	return &looks->slots[cookie % SLOTS];
}

/* Consumes in the kernel what the program has had; the look is over. Never waits: the bytes are there. */
static void finish(struct slot *slot)
{
	if (slot->used) {
		for (unsigned left = slot->used; left && cookie_of(slot->fd) == slot->cookie;) {
			long gone = raw_call(SYS_recvfrom, slot->fd, 0, left, MSG_TRUNC | MSG_DONTWAIT, 0, 0);
			if (gone <= 0 && gone != -EINTR)
				break;
			left -= gone > 0 ? gone : 0;
		}
		__atomic_fetch_sub(&looks->begun, 1, __ATOMIC_RELAXED);
	}
	slot->used = slot->filled = 0;
}

/* The cookie of a TCP socket, or 0. Multipath TCP does not know how to throw bytes away. */
static uint64_t find_cookie(int fd)
{
	if (!looks || fd < 0 || fd >= DESCRIPTORS || looks->cookies[fd] == NOT_OURS)
		return 0;
	if (!looks->cookies[fd])
		looks->cookies[fd] = option_of(fd, SO_PROTOCOL) == IPPROTO_TCP ? cookie_of(fd) : NOT_OURS;
	return looks->cookies[fd] == NOT_OURS ? 0 : looks->cookies[fd];
}

/* Brings the kernel up to date with what was read from this descriptor's socket. */
static inline void settle(int fd)
{
	if (!looks || !__atomic_load_n(&looks->begun, __ATOMIC_RELAXED))
		return;
	uint64_t cookie = find_cookie(fd);
	struct slot *slot = cookie ? slot_of(cookie) : 0;
	if (!slot || slot->cookie != cookie || !take(slot))
		return;
	if (slot->cookie == cookie)
		finish(slot);
	release(slot);
}

static void settle_all(void)
{
	for (int i = 0; looks && i < SLOTS && looks->begun; i++)
		if (looks->slots[i].used && take(&looks->slots[i])) {
			finish(&looks->slots[i]);
			release(&looks->slots[i]);
		}
}

static inline void mark(int fd, uint64_t cookie, int is_own)
{
	if (!looks || fd < 0 || fd >= DESCRIPTORS)
		return;
	looks->cookies[fd] = cookie;
	looks->is_own[fd] = is_own;
}

/* Others may read these sockets from now on. */
static void share_all(void)
{
	settle_all();
	if (looks)
		memset(looks->is_own, 0, sizeof(looks->is_own));
}

static ssize_t serve(struct slot *slot, void *bytes, size_t size)
{
	memcpy(bytes, slot->bytes + slot->used, size);
	if (!slot->used)
		__atomic_fetch_add(&looks->begun, 1, __ATOMIC_RELAXED);
	slot->used += size;
	if (slot->used == slot->filled)
		finish(slot);
	return size;
}

static int look(struct slot *slot, int fd, uint64_t cookie, size_t size)
{
	finish(slot);
	if (cookie_of(fd) != cookie) {
		mark(fd, 0, 0); /* it was closed and given out anew behind our back */
		return 0;
	}
	long seen = raw_call(SYS_recvfrom, fd, (long)slot->bytes, LOOK, MSG_PEEK | MSG_DONTWAIT, 0, 0);
	if (seen <= (long)size)
		return 0;
	slot->cookie = cookie;
	slot->fd = fd;
	slot->filled = seen;
	return 1;
}

/* A read of so many bytes: as many where they were at hand, else 0, and the caller reads for itself. */
static ssize_t read_tiny(int fd, void *bytes, size_t size, int flags)
{
	int is_plain = size && size <= TINY && !(flags & ~(MSG_DONTWAIT | MSG_NOSIGNAL | MSG_WAITALL));
	uint64_t cookie = is_plain && looks && fd >= 0 && fd < DESCRIPTORS && looks->is_own[fd] ? find_cookie(fd) : 0;
	if (!cookie) {
		settle(fd);
		return 0;
	}
	SEEN();
	struct slot *slot = slot_of(cookie);
	if (!take(slot))
		return 0;
	ssize_t served = 0;
	if (slot->cookie == cookie && slot->filled - slot->used >= size) {
		served = serve(slot, bytes, size);
		CHANGED();
	} else if (look(slot, fd, cookie, size)) {
		served = serve(slot, bytes, size);
	}
	release(slot);
	return served;
}

#define READS(name, parameters, arguments, flags)                      \
	WRAP(ssize_t, name, parameters)                                \
	{                                                              \
		NEXT(name);                                            \
		ssize_t served = read_tiny(fd, bytes, size, flags);    \
		return served ? served : real arguments;               \
	}

READS(read, (int fd, void *bytes, size_t size), (fd, bytes, size), 0)
READS(__read_chk, (int fd, void *bytes, size_t size, size_t room), (fd, bytes, size, room), size > room ? MSG_OOB : 0)
READS(recv, (int fd, void *bytes, size_t size, int flags), (fd, bytes, size, flags), flags)
READS(__recv_chk, (int fd, void *bytes, size_t size, size_t room, int flags), (fd, bytes, size, room, flags),
      size > room ? MSG_OOB : flags)
READS(recvfrom, (int fd, void *bytes, size_t size, int flags, struct sockaddr *from, socklen_t *length),
      (fd, bytes, size, flags, from, length), from ? MSG_OOB : flags)
READS(__recvfrom_chk,
      (int fd, void *bytes, size_t size, size_t room, int flags, struct sockaddr *from, socklen_t *length),
      (fd, bytes, size, room, flags, from, length), from || size > room ? MSG_OOB : flags)

/* Calls before which the kernel must know what was read. */
#define SETTLES(type, name, parameters, arguments) \
	WRAP(type, name, parameters)               \
	{                                          \
		NEXT(name);                        \
		settle(fd);                        \
		return real arguments;             \
	}

SETTLES(ssize_t, readv, (int fd, const struct iovec *parts, int count), (fd, parts, count))
SETTLES(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags))
SETTLES(int, recvmmsg, (int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *limit),
	(fd, messages, count, flags, limit))
SETTLES(ssize_t, splice, (int fd, off_t *at, int to, off_t *to_at, size_t size, unsigned flags),
	(fd, at, to, to_at, size, flags))
SETTLES(int, shutdown, (int fd, int how), (fd, how))

WRAP(int, ioctl, (int fd, unsigned long request, void *argument))
{
	NEXT(ioctl);
	if (request == SIOCINQ || request == SIOCATMARK)
		settle(fd);
	return real(fd, request, argument);
}

WRAP(int, setsockopt, (int fd, int level, int name, const void *value, socklen_t length))
{
	NEXT(setsockopt);
	if (level == IPPROTO_TCP && name == TCP_ULP) {
		settle(fd);
		mark(fd, NOT_OURS, 0); /* the kernel deciphers from here on: records are not bytes */
	}
	return real(fd, level, name, value, length);
}

/* A message may carry descriptors to another process. */
WRAP(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags))
{
	NEXT(sendmsg);
	if (message && message->msg_controllen)
		share_all();
	return real(fd, message, flags);
}

/* Descriptors come and go. */

#define MAKES(name, parameters, arguments)   \
	WRAP(int, name, parameters)          \
	{                                    \
		NEXT(name);                  \
		int made = real arguments;   \
		mark(made, 0, 1);            \
		return made;                 \
	}

MAKES(socket, (int family, int type, int protocol), (family, type, protocol))
MAKES(accept, (int fd, struct sockaddr *from, socklen_t *length), (fd, from, length))
MAKES(accept4, (int fd, struct sockaddr *from, socklen_t *length, int flags), (fd, from, length, flags))

WRAP(int, close, (int fd))
{
	NEXT(close);
	settle(fd);
	mark(fd, 0, 0);
	return real(fd);
}

WRAP(int, dup2, (int from, int to))
{
	NEXT(dup2);
	settle(to);
	mark(to, 0, 0);
	return real(from, to);
}

WRAP(int, dup3, (int from, int to, int flags))
{
	NEXT(dup3);
	settle(to);
	mark(to, 0, 0);
	return real(from, to, flags);
}

WRAP(int, close_range, (unsigned first, unsigned last, int flags))
{
	NEXT(close_range);
	settle_all();
	for (unsigned fd = first; looks && fd <= last && fd < DESCRIPTORS; fd++)
		if (looks->cookies[fd])
			mark(fd, 0, 0);
	return real(first, last, flags);
}

/* What stdio reads is not seen. */
EXPORT FILE *wrapped_fdopen(int fd, const char *mode) __asm__("fdopen");
EXPORT FILE *wrapped_fdopen(int fd, const char *mode)
{
	static FILE *(*real)(int, const char *);
	if (!real)
		real = (FILE * (*)(int, const char *)) shim_next("fdopen");
	settle(fd);
	mark(fd, NOT_OURS, 0);
	return real ? real(fd, mode) : 0;
}

/* What starts another program, or ends this one. */

#define LEAVES(type, name, parameters, arguments) \
	WRAP(type, name, parameters)              \
	{                                         \
		NEXT(name);                       \
		share_all();                      \
		return real arguments;            \
	}

LEAVES(pid_t, fork, (void), ())
LEAVES(pid_t, _Fork, (void), ())
LEAVES(int, system, (const char *command), (command))
LEAVES(int, posix_spawn,
       (pid_t *pid, const char *path, const void *actions, const void *attributes, char *const *arguments,
	char *const *environment),
       (pid, path, actions, attributes, arguments, environment))
LEAVES(int, posix_spawnp,
       (pid_t *pid, const char *path, const void *actions, const void *attributes, char *const *arguments,
	char *const *environment),
       (pid, path, actions, attributes, arguments, environment))
LEAVES(int, execve, (const char *path, char *const *arguments, char *const *environment), (path, arguments, environment))
LEAVES(int, execv, (const char *path, char *const *arguments), (path, arguments))
LEAVES(int, execvp, (const char *file, char *const *arguments), (file, arguments))
LEAVES(int, execvpe, (const char *file, char *const *arguments, char *const *environment), (file, arguments, environment))
LEAVES(int, fexecve, (int fd, char *const *arguments, char *const *environment), (fd, arguments, environment))

ENDS(_exit, settle_all())
ENDS(_Exit, settle_all())

__attribute__((destructor)) static void end(void)
{
	settle_all();
}
