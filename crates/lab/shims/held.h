/* Bytes that a program has written and that have not been sent: by socket, in the order in which they were written.
 *
 * Promises: no byte is lost, sent twice, or sent after one that was written later on the same socket. All of it lies in
 * memory that a fork leaves empty in the child: the parent sends what it holds, whichever way it forked. A socket is
 * known by the kernel's own number for it, so that descriptors may be duplicated, closed and given out anew.
 *
 * A thread of our own sends what the program leaves lying for 4 to 5 ms. It is made without libc, so that the program
 * stays single-threaded in libc's eyes; therefore it calls the kernel directly, past other shims. */
#pragma once
#include "own.h"
#include "sockets.h"
#include <linux/futex.h>
#include <sched.h>
#include <sys/uio.h>

/* About the payload of one segment on an Ethernet: a longer write fills a segment by itself. */
#define SMALL 1400
#define SLOTS 1024
#define DESCRIPTORS 65536
#define TICK_NS 1000000
#define AGE_TICKS 4
/* How long the helper ticks on with nothing to send before it sleeps: waking it costs more than some ticks. */
#define IDLE_TICKS 50
#define NOT_OURS (~0ull)
/* So often the helper may send before waits in locks count as waits: a thread hands over to another, which reads. */
#define LATE 3
/* So often in a row may a single write be held in vain before nothing is held any more: no wait of the program is seen. */
#define LONELY 16

enum outcome { PASS = -2, BLOCKED = -3 };
enum helper { NOT_STARTED, TICKING, ASLEEP, REFUSED };
enum then { NOTHING_MORE = 0, MORE_FOLLOWS = MSG_MORE };

struct slot {
	void *owner;	 /* of the lock: a thread's mark, or 0 */
	uint64_t cookie; /* of the socket */
	uint64_t tick;	 /* when the first byte came */
	int fd;
	int flags; /* MSG_NOSIGNAL where every write asked for it */
	int error; /* of sending what was held: for the next call on this socket */
	unsigned length;
	unsigned writes; /* that the bytes came in */
	char bytes[2 * SMALL];
};

struct held {
	uint64_t busy[SLOTS / 64]; /* a bit for each slot with bytes */
	uint64_t tick;
	int helper;
	int errors; /* slots with an error, roughly: a hint to look */
	int late;   /* times that the helper had to send */
	int lonely; /* of these, those in a row in which one write alone had been held */
	uint64_t cookies[DESCRIPTORS];
	struct slot slots[SLOTS];
};

static struct held *held;
static ssize_t (*next_sendto)(int, const void *, size_t, int, const struct sockaddr *, socklen_t);
THREAD_LOCAL uint16_t mine[16]; /* slots that this thread has put bytes into since it last waited */
THREAD_LOCAL int mine_count;

static int held_begin(void)
{
	next_sendto = (__typeof__(next_sendto))shim_next("sendto");
	void *memory = own_memory(sizeof(struct held));
	if (!next_sendto || !memory)
		return 0;
	held = memory;
	return 1;
}

static void mark(struct slot *slot, int is_busy)
{
	size_t index = slot - held->slots;
	uint64_t bit = 1ull << (index % 64);
	if (is_busy)
		__atomic_fetch_or(&held->busy[index / 64], bit, __ATOMIC_SEQ_CST);
	else
		__atomic_fetch_and(&held->busy[index / 64], ~bit, __ATOMIC_SEQ_CST);
}

static int take(struct slot *slot, void *me)
{
	return own_take(&slot->owner, me);
}

static void release(struct slot *slot)
{
	own_release(&slot->owner);
}

static void empty(struct slot *slot)
{
	slot->length = 0;
	mark(slot, 0);
}

static void fail(struct slot *slot, int error)
{
	empty(slot);
	slot->error = error;
	__atomic_fetch_add(&held->errors, 1, __ATOMIC_RELAXED);
}

/* Never waits: what finds no room in the kernel stays. `me` is 0 for the helper. */
static void send_held(struct slot *slot, enum then then, void *me)
{
	while (slot->length) {
		if (cookie_of(slot->fd) != slot->cookie)
			return empty(slot); /* it was closed behind our back, and with it where the bytes were to go */
		int flags = MSG_DONTWAIT | then | (me ? slot->flags : MSG_NOSIGNAL);
		long sent;
		if (me) {
			sent = next_sendto(slot->fd, slot->bytes, slot->length, flags, 0, 0);
			sent = sent < 0 ? -errno : sent;
		} else {
			sent = raw_call(SYS_sendto, slot->fd, (long)slot->bytes, slot->length, flags, 0, 0);
		}
		if (sent == -EINTR)
			continue;
		if (sent == -EAGAIN || sent == -ENOBUFS || sent == -ENOMEM)
			return;
		if (sent < 0)
			return fail(slot, -sent);
		memmove(slot->bytes, slot->bytes + sent, slot->length - sent);
		slot->length -= sent;
	}
	empty(slot);
}

static struct slot *slot_of(uint64_t cookie)
{
	return &held->slots[cookie % SLOTS];
}

static void send_slot(struct slot *slot, enum then then)
{
	if (!__atomic_load_n(&slot->length, __ATOMIC_RELAXED) || !take(slot, &mine_count))
		return;
	send_held(slot, then, &mine_count);
	release(slot);
}

/* What this thread wrote goes out: it is about to wait. */
static inline void send_mine(void)
{
	if (!mine_count)
		return;
	int kept = errno;
	for (int i = 0; held && i < mine_count; i++)
		send_slot(&held->slots[mine[i]], NOTHING_MORE);
	mine_count = 0;
	errno = kept;
}

static int anything_held(void)
{
	for (int word = 0; word < SLOTS / 64; word++)
		if (__atomic_load_n(&held->busy[word], __ATOMIC_SEQ_CST))
			return 1;
	return 0;
}

/* The cookie of a connected TCP socket, or 0. What is no TCP socket is remembered as such until it is closed. */
static uint64_t find_cookie(int fd, int is_first)
{
	uint64_t known = held->cookies[fd];
	if (known == NOT_OURS || (known && !is_first))
		return known == NOT_OURS ? 0 : known;
	uint64_t cookie = cookie_of(fd);
	if (known && known == cookie)
		return known;
	if (!cookie || !is_tcp(fd)) {
		held->cookies[fd] = NOT_OURS;
		return 0;
	}
	held->cookies[fd] = is_connected(fd) ? cookie : 0;
	return held->cookies[fd];
}

/* Whether something may be held for this descriptor: also for one that was not written to yet, but whose twin was. */
static inline int known_cookie(int fd, uint64_t *cookie)
{
	if (!held || fd < 0 || fd >= DESCRIPTORS)
		return 0;
	*cookie = held->cookies[fd] || !anything_held() ? held->cookies[fd] : find_cookie(fd, 0);
	return *cookie && *cookie != NOT_OURS;
}

/* What was written to this descriptor goes out. */
static inline void send_of(int fd, enum then then)
{
	uint64_t cookie;
	if (!known_cookie(fd, &cookie))
		return;
	int kept = errno;
	send_slot(slot_of(cookie), then);
	errno = kept;
}

/* The same before something after which it could not: waits for room, for a second at most. */
static void settle_slot(struct slot *slot)
{
	int kept = errno;
	for (int tries = 0; tries < 100; tries++) {
		send_slot(slot, NOTHING_MORE);
		if (!__atomic_load_n(&slot->length, __ATOMIC_RELAXED))
			break;
		await_events(slot->fd, POLLOUT, 10);
	}
	errno = kept;
}

static inline void settle(int fd)
{
	uint64_t cookie;
	if (known_cookie(fd, &cookie))
		settle_slot(slot_of(cookie));
}

static void settle_all(void)
{
	for (int word = 0; held && word < SLOTS / 64; word++)
		for (uint64_t bits = held->busy[word]; bits; bits &= bits - 1)
			settle_slot(&held->slots[64 * word + __builtin_ctzll(bits)]);
	mine_count = 0;
}

/* The same before a wait in a lock, where that has shown to be how this program waits for answers. Elsewhere such a wait
 * is short (an interpreter's lock), and would part what belongs together. */
static inline void send_mine_before_lock(void)
{
	if (mine_count && held && held->late >= LATE)
		send_mine();
}

/* The descriptor means something else from now on. */
static inline void forget(int fd)
{
	if (held && fd >= 0 && fd < DESCRIPTORS)
		held->cookies[fd] = 0;
}

/* The error that was met when sending what this descriptor's socket held, once; 0 for none. */
static inline int take_error(int fd)
{
	uint64_t cookie;
	if (!held || !held->errors || !known_cookie(fd, &cookie))
		return 0;
	struct slot *slot = slot_of(cookie);
	if (slot->cookie != cookie || !slot->error || !take(slot, &mine_count))
		return 0;
	int error = slot->cookie == cookie ? slot->error : 0;
	slot->error = 0;
	release(slot);
	return error;
}

static void send_old(void)
{
	for (int word = 0; word < SLOTS / 64; word++) {
		uint64_t bits = __atomic_load_n(&held->busy[word], __ATOMIC_SEQ_CST);
		for (; bits; bits &= bits - 1) {
			struct slot *slot = &held->slots[64 * word + __builtin_ctzll(bits)];
			if (held->tick - slot->tick < AGE_TICKS || !take(slot, held))
				continue;
			held->late += slot->length > 0;
			held->lonely = slot->writes > 1 ? 0 : held->lonely + (slot->length > 0);
			send_held(slot, NOTHING_MORE, 0);
			release(slot);
		}
	}
}

static void help(void)
{
	struct timespec tick = { 0, TICK_NS };
	for (int idle = 0;; idle = anything_held() ? 0 : idle + 1) {
		if (idle > IDLE_TICKS) {
			__atomic_store_n(&held->helper, ASLEEP, __ATOMIC_SEQ_CST);
			if (!anything_held())
				raw_call(SYS_futex, (long)&held->helper, FUTEX_WAIT_PRIVATE, ASLEEP, 0, 0, 0);
			__atomic_store_n(&held->helper, TICKING, __ATOMIC_SEQ_CST);
			idle = 0;
		}
		raw_call(SYS_nanosleep, (long)&tick, 0, 0, 0, 0, 0);
		__atomic_fetch_add(&held->tick, 1, __ATOMIC_RELAXED);
		send_old();
	}
}

/* Sees to it that the helper is awake; false where there cannot be one. */
static int call_helper(void)
{
	int is = __atomic_load_n(&held->helper, __ATOMIC_SEQ_CST);
	if (is == TICKING)
		return 1;
	if (is == ASLEEP) {
		__atomic_store_n(&held->helper, TICKING, __ATOMIC_SEQ_CST);
		raw_call(SYS_futex, (long)&held->helper, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
		return 1;
	}
	if (is == REFUSED || !__atomic_compare_exchange_n(&held->helper, &is, TICKING, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return is == TICKING;
	const long stack_size = 64 * 1024;
	char *stack = mmap(0, stack_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	uint64_t all = ~0ull, before;
	raw_call(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, (long)&all, (long)&before, 8, 0, 0);
	long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
	long thread = stack == MAP_FAILED ? -ENOMEM : raw_thread(flags, stack + stack_size, help);
	raw_call(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, (long)&before, 0, 8, 0, 0);
	if (thread < 0)
		__atomic_store_n(&held->helper, REFUSED, __ATOMIC_SEQ_CST);
	return thread >= 0;
}

static void keep(struct slot *slot, const struct iovec *parts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		memcpy(slot->bytes + slot->length, parts[i].iov_base, parts[i].iov_len);
		slot->length += parts[i].iov_len;
	}
}

static void remember(struct slot *slot)
{
	uint16_t index = slot - held->slots;
	for (int i = 0; i < mine_count; i++)
		if (mine[i] == index)
			return;
	mine[mine_count++] = index;
}

static ssize_t hold_locked(struct slot *slot, int fd, uint64_t cookie, const struct iovec *parts, size_t count, size_t total, int flags)
{
	void *me = &mine_count;
	if (slot->cookie != cookie) {
		send_held(slot, NOTHING_MORE, me);
		if (slot->length)
			return PASS; /* the other socket has no room; this one holds nothing and need not wait */
		slot->cookie = cookie;
		slot->error = 0;
	}
	if (slot->error) {
		int error = slot->error;
		slot->error = 0;
		if (error == EPIPE)
			return PASS; /* the kernel says so itself, with its signal */
		errno = error;
		return -1;
	}
	int is_plain = !(flags & ~(MSG_NOSIGNAL | MSG_DONTWAIT | MSG_MORE));
	if (total >= SMALL || !is_plain || slot->length >= SMALL) {
		send_held(slot, is_plain ? MORE_FOLLOWS : NOTHING_MORE, me);
		if (slot->length)
			return BLOCKED;
		if (total >= SMALL || !is_plain)
			return PASS;
	}
	/* With room in the kernel now, what is held can be sent later without waiting. */
	if (!slot->length && !await_events(fd, POLLOUT, 0))
		return PASS;
	if (slot->length) {
		CHANGED();
		slot->writes++;
		held->lonely = 0;
	} else {
		if (held->lonely >= LONELY)
			return PASS;
		slot->writes = 1;
		slot->flags = MSG_NOSIGNAL;
		slot->tick = __atomic_load_n(&held->tick, __ATOMIC_RELAXED);
	}
	slot->fd = fd;
	slot->flags &= flags;
	keep(slot, parts, count);
	mark(slot, 1); /* before the helper is called: it looks for marks before it sleeps */
	if (slot->length >= SMALL || !call_helper())
		send_held(slot, NOTHING_MORE, me);
	else
		remember(slot);
	return total;
}

/* Takes a write: its length where it is held (or an error met before), PASS where the caller shall write it itself,
 * everything before it having been sent; BLOCKED where the kernel has no room for what is held. */
static ssize_t hold(int fd, const struct iovec *parts, size_t count, int flags)
{
	if (!held || fd < 0 || fd >= DESCRIPTORS)
		return PASS;
	size_t total = 0;
	for (size_t i = 0; i < count; i++)
		total += parts[i].iov_len;
	if (!total)
		return PASS;
	uint64_t known = held->cookies[fd];
	int holds = known && known != NOT_OURS && slot_of(known)->length && slot_of(known)->cookie == known;
	if (total >= SMALL && known && !holds)
		return PASS;
	if (mine_count == sizeof(mine) / sizeof(*mine))
		send_mine();
	uint64_t cookie = find_cookie(fd, !holds);
	if (!cookie)
		return PASS;
	SEEN();
	struct slot *slot = slot_of(cookie);
	if (!take(slot, &mine_count))
		return PASS;
	ssize_t result = hold_locked(slot, fd, cookie, parts, count, total, flags);
	release(slot);
	return result;
}
